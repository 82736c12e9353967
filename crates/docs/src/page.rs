//! The pages.

use askama::Template;

use crate::{
    assets::Assets,
    guides::{DECISIONS, Part},
    markdown::Heading,
    reference::{Answer, FOLDER, Field, Group, OBJECTS, Object, Operation, Reference, Shape},
    rendered::Guide,
    site::{File, HTML, ROOT, escape, render},
};

/// The page that shows the results of a search.
const SEARCH: &str = "search";

/// Everything that pages are made from.
pub(crate) struct Site<'a> {
    guides: &'a [Guide],
    reference: &'a Reference,
    assets: &'a Assets,
}

/// A link in a list.
#[derive(Debug, Clone)]
struct Link {
    title: String,
    address: String,
    /// What follows the link: plain text.
    about: String,
    is_current: bool,
}

/// A heading with a list of links.
#[derive(Debug)]
struct List {
    title: String,
    address: String,
    about: String,
    links: Vec<Link>,
}

impl List {
    /// Whether no link has text after it.
    fn is_short(&self) -> bool {
        self.links.iter().all(|link| link.about.is_empty())
    }
}

/// What differs from page to page.
struct Content {
    /// The path below the root of the site.
    path: String,
    title: String,
    /// One sentence for search engines.
    about: String,
    /// The HTML of the page.
    main: String,
    headings: Vec<Heading>,
    /// Whether examples are shown beside the text.
    is_wide: bool,
}

#[derive(Template)]
#[template(path = "page.html")]
struct PageTemplate<'a> {
    content: &'a Content,
    assets: &'a Assets,
    /// The parts of the site.
    parts: Vec<Link>,
    /// The title of this page's part, and the pages in it.
    part: String,
    pages: Vec<Link>,
    headings: Vec<&'a Heading>,
    search: String,
    version: &'a str,
}

#[derive(Template)]
#[template(path = "lists.html")]
struct ListsTemplate<'a> {
    title: &'a str,
    about: &'a str,
    lists: &'a [List],
}

#[derive(Template)]
#[template(path = "operations.html")]
struct OperationsTemplate<'a> {
    operations: &'a [Operation],
}

#[derive(Template)]
#[template(path = "object.html")]
struct ObjectTemplate<'a> {
    object: &'a Object,
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchTemplate<'a> {
    index: &'a str,
}

/// The address of an object's page.
pub(crate) fn address_of_object(name: &str) -> String {
    format!("{ROOT}{OBJECTS}/{name}")
}

/// The HTML of a group's operations.
pub(crate) fn operations_of(group: &Group) -> String {
    render(&OperationsTemplate { operations: &group.operations })
}

fn link(title: &str, path: &str, about: &str) -> Link {
    Link { title: title.to_owned(), address: format!("{ROOT}{path}"), about: about.to_owned(), is_current: false }
}

impl<'a> Site<'a> {
    pub(crate) fn new(guides: &'a [Guide], reference: &'a Reference, assets: &'a Assets) -> Self {
        Self { guides, reference, assets }
    }

    /// Every page.
    pub(crate) fn files(&self) -> Vec<File> {
        let mut contents = vec![self.first(), self.decisions(), self.search(), self.reference(), self.objects()];
        contents.extend(Part::ALL.map(|part| self.part(part)));
        contents.extend(self.guides.iter().map(guide));
        for group in &self.reference.groups {
            contents.push(group_page(group));
            if group.is_split {
                contents.extend(group.operations.iter().map(|operation| operation_page(group, operation)));
            }
        }
        contents.extend(self.reference.objects.iter().map(object));
        contents.iter().map(|content| self.file(content)).collect()
    }

    fn file(&self, content: &Content) -> File {
        let folder = content.path.split('/').next().unwrap_or_default();
        let mut parts: Vec<Link> = Part::ALL.iter().map(|part| link(part.title(), part.path(), "")).collect();
        parts.push(link("Reference", FOLDER, ""));
        for part in &mut parts {
            part.is_current = part.address == format!("{ROOT}{folder}");
        }
        let part = parts.iter().find(|part| part.is_current).map(|part| part.title.clone()).unwrap_or_default();
        let mut pages = match Part::ALL.into_iter().find(|part| part.path() == folder) {
            Some(part) => self.pages_of(part),
            None if folder == FOLDER => self.groups(),
            None => Vec::new(),
        };
        let address = format!("{ROOT}{}", content.path);
        for page in &mut pages {
            page.is_current = page.address == address || address.starts_with(&format!("{}/", page.address));
        }
        let page = PageTemplate {
            content,
            assets: self.assets,
            parts,
            part,
            pages,
            headings: content.headings.iter().filter(|heading| heading.level == 2).collect(),
            search: format!("{ROOT}{SEARCH}"),
            version: &self.reference.version,
        };
        let html = render(&page).into_bytes();
        File { path: content.path.clone(), content_type: HTML, content: html.into(), is_lasting: false }
    }

    /// The pages of a part. The decisions count as one.
    fn pages_of(&self, part: Part) -> Vec<Link> {
        let own = self.guides.iter().filter(|guide| guide.source.part == part);
        let own = own.filter(|guide| !guide.source.page.starts_with(DECISIONS));
        let mut pages: Vec<Link> = own
            .map(|guide| link(&guide.document.title, guide.source.page, &sentence(&guide.document.summary)))
            .collect();
        if part == Part::Contribute {
            pages.push(link("Decisions", DECISIONS, "Design decisions, and the reasons for them."));
        }
        pages
    }

    fn groups(&self) -> Vec<Link> {
        let groups = self.reference.groups.iter().map(|group| link(&group.name, &group.path, &plain(&group.about)));
        groups.chain([link("Objects", OBJECTS, "What bodies and answers consist of.")]).collect()
    }

    fn first(&self) -> Content {
        let list = |part: Part| List {
            title: part.title().to_owned(),
            address: format!("{ROOT}{}", part.path()),
            about: part.purpose().to_owned(),
            links: self.pages_of(part),
        };
        let mut lists: Vec<List> = Part::ALL.into_iter().map(list).collect();
        lists.push(List {
            title: "Reference".to_owned(),
            address: format!("{ROOT}{FOLDER}"),
            about: "Every operation of the API, with examples.".to_owned(),
            links: self.groups(),
        });
        // The first page names the pages; the page of each part says what they are about.
        lists.iter_mut().flat_map(|list| &mut list.links).for_each(|link| link.about.clear());
        let about = "Kalends is a calendar backend for AI agents and the people they work for.";
        list_page("", "Kalends", about, &lists)
    }

    fn part(&self, part: Part) -> Content {
        let list =
            List { title: String::new(), address: String::new(), about: String::new(), links: self.pages_of(part) };
        list_page(part.path(), part.title(), part.purpose(), &[list])
    }

    fn decisions(&self) -> Content {
        let decisions = self.guides.iter().filter(|guide| guide.source.page.starts_with(DECISIONS));
        let links = decisions.map(|guide| link(&guide.document.title, guide.source.page, "")).collect();
        let list = List { title: String::new(), address: String::new(), about: String::new(), links };
        list_page(DECISIONS, "Decisions", "Design decisions, and the reasons for them.", &[list])
    }

    fn reference(&self) -> Content {
        let list = |group: &Group| List {
            title: group.name.clone(),
            address: format!("{ROOT}{}", group.path),
            about: plain(&group.about),
            links: links_of(group),
        };
        let lists: Vec<List> = self.reference.groups.iter().map(list).collect();
        let about = "Every operation of the API. The same description is at /openapi.json, for programs.";
        list_page(FOLDER, "Reference", about, &lists)
    }

    fn objects(&self) -> Content {
        let links =
            self.reference.objects.iter().map(|object| {
                link(&object.name, &format!("{OBJECTS}/{}", object.name), &sentence(&plain(&object.about)))
            });
        let list = List { title: String::new(), address: String::new(), about: String::new(), links: links.collect() };
        list_page(OBJECTS, "Objects", "The types in the bodies of requests and answers.", &[list])
    }

    fn search(&self) -> Content {
        Content {
            path: SEARCH.to_owned(),
            title: "Search".to_owned(),
            about: "Searches the documentation.".to_owned(),
            main: render(&SearchTemplate { index: &self.assets.index }),
            headings: Vec::new(),
            is_wide: false,
        }
    }
}

fn guide(guide: &Guide) -> Content {
    let Guide { source, document } = guide;
    Content {
        path: source.page.to_owned(),
        title: document.title.clone(),
        about: sentence(&document.summary),
        main: document.html.clone(),
        headings: document.headings.clone(),
        is_wide: false,
    }
}

fn links_of(group: &Group) -> Vec<Link> {
    let link = |operation: &Operation| Link {
        title: operation.title.clone(),
        address: group.address(operation),
        about: format!("{} {}", operation.method, operation.path),
        is_current: false,
    };
    group.operations.iter().map(link).collect()
}

fn group_page(group: &Group) -> Content {
    let about = plain(&group.about);
    if group.is_split {
        let list = List { title: String::new(), address: String::new(), about: String::new(), links: links_of(group) };
        return list_page(&group.path, &group.name, &about, &[list]);
    }
    let title = escape(&group.name);
    Content {
        path: group.path.clone(),
        title: group.name.clone(),
        main: format!("<h1>{title}</h1>\n<p class=\"lead\">{}</p>\n{}", group.about, operations_of(group)),
        about,
        headings: Vec::new(),
        is_wide: true,
    }
}

fn operation_page(group: &Group, operation: &Operation) -> Content {
    Content {
        path: format!("{}/{}", group.path, operation.id),
        title: operation.title.clone(),
        about: format!("{} {}", operation.method, operation.path),
        main: format!(
            "<p class=\"lead\"><a href=\"{ROOT}{}\">{}</a></p>\n{}",
            group.path,
            escape(&group.name),
            render(&OperationsTemplate { operations: std::slice::from_ref(operation) })
                .replacen("<h2>", "<h1>", 1)
                .replacen("</h2>", "</h1>", 1)
        ),
        headings: Vec::new(),
        is_wide: true,
    }
}

fn object(object: &Object) -> Content {
    Content {
        path: format!("{OBJECTS}/{}", object.name),
        title: object.name.clone(),
        about: sentence(&plain(&object.about)),
        main: render(&ObjectTemplate { object }),
        headings: Vec::new(),
        is_wide: false,
    }
}

fn list_page(path: &str, title: &str, about: &str, lists: &[List]) -> Content {
    Content {
        path: path.to_owned(),
        title: title.to_owned(),
        about: about.to_owned(),
        main: render(&ListsTemplate { title, about, lists }),
        headings: Vec::new(),
        is_wide: false,
    }
}

/// The first sentence.
fn sentence(text: &str) -> String {
    match text.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None => text.trim().to_owned(),
    }
}

/// The text of HTML that was made here, without its elements.
fn plain(html: &str) -> String {
    let parts = html.split('<').enumerate();
    let text =
        parts.map(|(index, part)| if index == 0 { part } else { part.split_once('>').map_or("", |(_, rest)| rest) });
    let text: String = text.collect();
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&").trim().to_owned()
}

#[derive(Template)]
#[template(path = "fields.html")]
struct FieldsTemplate<'a> {
    fields: &'a [Field],
}

#[derive(Template)]
#[template(path = "shape.html")]
struct ShapeTemplate<'a> {
    shape: &'a Shape,
}

#[derive(Template)]
#[template(path = "answers.html")]
struct AnswersTemplate<'a> {
    answers: &'a [Answer],
}

/// The HTML of a list of fields. Templates call it.
pub(crate) fn fields(fields: &[Field]) -> String {
    render(&FieldsTemplate { fields })
}

/// The HTML of a body or an object. Templates call it.
pub(crate) fn shape(shape: &Shape) -> String {
    render(&ShapeTemplate { shape })
}

/// The HTML of a list of answers. Templates call it.
pub(crate) fn answers(answers: &[Answer]) -> String {
    render(&AnswersTemplate { answers })
}
