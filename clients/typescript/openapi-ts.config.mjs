// How `cargo xtask clients` generates `src/generated`.

export default {
  input: process.env.KALENDS_DESCRIPTION,
  output: { path: process.env.KALENDS_GENERATED, module: { extension: '.js' } },
  logs: { file: false },
  plugins: [
    { name: '@hey-api/client-fetch', throwOnError: true },
    { name: '@hey-api/sdk', operations: { strategy: 'single', containerName: 'Operations', methods: 'instance' } },
    '@hey-api/typescript',
  ],
};
