//! Single statements on a [`WarmPool`].

use futures::{
    StreamExt as _, TryStreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use sqlx::{Database, Describe, Either, Error, Execute, Executor, SqlStr};

use crate::WarmPool;

impl<'p, DB: Database> Executor<'p> for &'p WarmPool<DB>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    type Database = DB;

    /// All rows are read before the first one is passed on. So a caller that stops half-way does not keep a
    /// connection.
    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, Result<Either<DB::QueryResult, DB::Row>, Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, DB>,
    {
        let read = async move {
            let mut lent = self.acquire().await?;
            let rows: Vec<_> = lent.fetch_many(query).try_collect().await?;
            lent.keep();
            Ok::<_, Error>(stream::iter(rows).map(Ok))
        };
        stream::once(read).try_flatten().boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<DB::Row>, Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, DB>,
    {
        Box::pin(async move {
            let mut lent = self.acquire().await?;
            let row = lent.fetch_optional(query).await?;
            lent.keep();
            Ok(row)
        })
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [DB::TypeInfo],
    ) -> BoxFuture<'e, Result<DB::Statement, Error>>
    where
        'p: 'e,
    {
        Box::pin(async move {
            let mut lent = self.acquire().await?;
            let statement = lent.prepare_with(sql, parameters).await?;
            lent.keep();
            Ok(statement)
        })
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<DB>, Error>>
    where
        'p: 'e,
    {
        Box::pin(async move {
            let mut lent = self.acquire().await?;
            let described = lent.describe(sql).await?;
            lent.keep();
            Ok(described)
        })
    }
}
