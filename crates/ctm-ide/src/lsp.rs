//! The language server: the protocol of `ctm lsp` on standard input and output.
//!
//! A text is read as soon as it changes, and its findings are sent; everything else is a question about a [`Document`].
//!
//! A message that is none is answered with an error of JSON-RPC, and the next one is read: only the end of the input and `exit` end the server.

use crate::foreign::Foreign;
use crate::framing::{self, FrameError, Frames};
use crate::language::{Completion, CompletionKind, Document, Language, NameKind, shown_findings};
use ctm_isa::diag::{Diagnostic, Severity, Span};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Exit, LogMessage, Notification as _,
    PublishDiagnostics,
};
use lsp_types::request::{
    Completion as CompletionRequest, DocumentHighlightRequest, DocumentSymbolRequest, Formatting, GotoDefinition,
    HoverRequest, Initialize, InlayHintRequest, PrepareRenameRequest, References, Rename, Request as _,
    ResolveCompletionItem, Shutdown,
};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionOptions, CompletionResponse, DiagnosticRelatedInformation,
    DiagnosticSeverity, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DocumentFormattingParams, DocumentHighlight, DocumentSymbol, DocumentSymbolResponse, Documentation,
    GotoDefinitionResponse, Hover, HoverContents, HoverProviderCapability, InitializeParams, InlayHint, InlayHintLabel,
    InlayHintParams, InlayHintTooltip, Location, LogMessageParams, MarkupContent, MarkupKind, MessageType,
    NumberOrString, OneOf, Position, PositionEncodingKind, PrepareRenameResponse, PublishDiagnosticsParams, Range,
    ReferenceParams, RenameOptions, RenameParams, ServerCapabilities, SymbolKind, TextDocumentPositionParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextEdit, Uri, WorkDoneProgressOptions, WorkspaceEdit,
};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::ops::ControlFlow;
use std::path::Path;

/// Why the server ended badly.
#[derive(Debug)]
pub struct LspError(String);

impl std::fmt::Display for LspError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LspError {}

/// The errors of JSON-RPC 2.0 and of the protocol that are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorCode {
    /// The message is no JSON, or no frame.
    ParseError = -32700,
    /// The message is JSON and no message.
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    InternalError = -32603,
    /// A request before `initialize`.
    ServerNotInitialized = -32002,
    /// The request is right and cannot be done.
    RequestFailed = -32803,
}

/// Speaks with a client on standard input and output until it says goodbye or goes away.
///
/// # Errors
/// The client goes away in the middle of a message, or leaves without `shutdown`.
pub fn stdio() -> Result<(), LspError> {
    serve(std::io::stdin().lock(), std::io::stdout().lock())
}

/// Speaks with a client.
///
/// # Errors
/// As of [`stdio`].
pub fn serve(input: impl BufRead, output: impl Write) -> Result<(), LspError> {
    let mut frames = Frames::new(input);
    let mut server = Server { output, utf8: false, phase: Phase::Starting, documents: HashMap::new() };
    loop {
        match frames.read() {
            Ok(Some(message)) => {
                if server.message(message)?.is_break() {
                    return Ok(());
                }
            }
            Ok(None) => return Ok(()),
            Err(FrameError::Refused(why)) => server.refuse(&Value::Null, ErrorCode::ParseError, &why)?,
            Err(FrameError::Ended(why)) => return Err(LspError(why)),
        }
    }
}

fn capabilities(utf8: bool) -> ServerCapabilities {
    let encoding = if utf8 { PositionEncodingKind::UTF8 } else { PositionEncodingKind::UTF16 };
    ServerCapabilities {
        position_encoding: Some(encoding),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            resolve_provider: Some(true),
            trigger_characters: Some(vec![".".into(), "(".into()]),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        ..ServerCapabilities::default()
    }
}

/// A text that a client has open.
struct OpenText {
    document: Document,
    version: i32,
    /// A job file or a shader: only findings are known of it.
    foreign: Option<Foreign>,
    /// The byte at which each line begins.
    starts: Vec<usize>,
    /// The last requested place: its line, its byte, its character. Places that follow each other on a line cost the text between them.
    last: Cell<(usize, usize, usize)>,
}

/// The byte at which each line of a text begins.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// The byte of a line and character of a text; positions past the end of a line are its end.
fn offset(text: &str, starts: &[usize], position: Position, utf8: bool) -> usize {
    let line = position.line as usize;
    let Some(&start) = starts.get(line) else { return text.len() };
    let end = starts.get(line + 1).map_or(text.len(), |&next| next - 1);
    let text = &text[start..end];
    let mut character = 0;
    for (at, c) in text.char_indices() {
        if character >= position.character {
            return start + at;
        }
        character += u32::try_from(if utf8 { c.len_utf8() } else { c.len_utf16() }).unwrap_or(1);
    }
    start + text.trim_end_matches('\r').len()
}

impl OpenText {
    fn new(language: Language, foreign: Option<Foreign>, text: String, version: i32) -> Self {
        let starts = line_starts(&text);
        let document = match &foreign {
            Some(foreign) => {
                let findings = foreign.findings(&text);
                Document::foreign(text, findings)
            }
            None => Document::new(language, text),
        };
        Self { document, version, foreign, starts, last: Cell::default() }
    }

    fn text(&self) -> &str {
        &self.document.text
    }

    /// Line and character of a byte.
    fn position(&self, offset: usize, utf8: bool) -> Position {
        let mut offset = offset.min(self.text().len());
        while !self.text().is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|&start| start <= offset).saturating_sub(1);
        let (of, at, units) = self.last.get();
        let (from, known) =
            if of == line && at <= offset { (at.max(self.starts[line]), units) } else { (self.starts[line], 0) };
        let before = &self.text()[from..offset];
        let character = known + if utf8 { before.len() } else { before.encode_utf16().count() };
        self.last.set((line, offset, character));
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position::new(number(line), number(character))
    }

    /// The byte of a line and character.
    fn offset(&self, position: Position, utf8: bool) -> usize {
        offset(self.text(), &self.starts, position, utf8)
    }

    fn range(&self, span: Span, utf8: bool) -> Range {
        Range::new(self.position(span.start as usize, utf8), self.position(span.end as usize, utf8))
    }
}

/// How far the session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before `initialize`.
    Starting,
    Open,
    /// After `shutdown`.
    ShutDown,
}

struct Server<W> {
    output: W,
    utf8: bool,
    phase: Phase,
    documents: HashMap<String, OpenText>,
}

/// Why a request is not answered: a code and a sentence.
type Refusal = (ErrorCode, String);

impl<W: Write> Server<W> {
    fn send(&mut self, mut message: Value) -> Result<(), LspError> {
        message["jsonrpc"] = "2.0".into();
        framing::write(&mut self.output, &message)
            .map_err(|e| LspError(format!("the client cannot be written to: {e}")))
    }

    fn refuse(&mut self, id: &Value, code: ErrorCode, why: &str) -> Result<(), LspError> {
        self.send(json!({ "id": id, "error": { "code": code as i32, "message": why } }))
    }

    /// A notification that cannot be read has no answer; the client logs why.
    fn log(&mut self, method: &str, why: &dyn std::fmt::Display) -> Result<(), LspError> {
        let params = LogMessageParams { typ: MessageType::ERROR, message: format!("`{method}`: {why}") };
        self.send(json!({ "method": LogMessage::METHOD, "params": params }))
    }

    /// One message; it breaks when the client has said goodbye.
    fn message(&mut self, mut message: Value) -> Result<ControlFlow<()>, LspError> {
        let id = message.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
        let params = message.get_mut("params").map(Value::take).unwrap_or_default();
        let next = ControlFlow::Continue(());
        let Some(method) = message["method"].as_str() else {
            // An answer: nothing was asked, but it is a message.
            if message.get("result").is_none() && message.get("error").is_none() {
                let why = "a message is an object with a `method`";
                self.refuse(&id.unwrap_or_default(), ErrorCode::InvalidRequest, why)?;
            }
            return Ok(next);
        };
        let Some(id) = id else {
            if message.get("id").is_some() {
                self.refuse(&Value::Null, ErrorCode::InvalidRequest, "an `id` is a number or a string")?;
            } else if method == Exit::METHOD {
                return match self.phase {
                    Phase::ShutDown => Ok(ControlFlow::Break(())),
                    _ => Err(LspError("the client leaves without `shutdown`".into())),
                };
            } else if self.phase == Phase::Open {
                self.notification(method, params)?;
            }
            return Ok(next);
        };
        let answer = match (self.phase, method) {
            (Phase::Starting, Initialize::METHOD) => self.initialize(params),
            (Phase::Starting, _) => Err((ErrorCode::ServerNotInitialized, "`initialize` comes first".into())),
            (Phase::Open, Shutdown::METHOD) => {
                self.phase = Phase::ShutDown;
                Ok(Value::Null)
            }
            (Phase::Open, Initialize::METHOD) => {
                Err((ErrorCode::InvalidRequest, "`initialize` comes only once".into()))
            }
            (Phase::Open, _) => self.answer(method, params),
            (Phase::ShutDown, _) => Err((ErrorCode::InvalidRequest, "nothing is asked after `shutdown`".into())),
        };
        match answer {
            Ok(value) => self.send(json!({ "id": id, "result": value }))?,
            Err((code, why)) => self.refuse(&id, code, &why)?,
        }
        Ok(next)
    }

    fn initialize(&mut self, params: Value) -> Result<Value, Refusal> {
        let params: InitializeParams = read(params)?;
        let offered = params.capabilities.general.and_then(|general| general.position_encodings).unwrap_or_default();
        self.utf8 = offered.contains(&PositionEncodingKind::UTF8);
        self.phase = Phase::Open;
        Ok(json!({
            "capabilities": capabilities(self.utf8),
            "serverInfo": { "name": "ctm", "version": env!("CARGO_PKG_VERSION") },
        }))
    }

    fn notification(&mut self, method: &str, params: Value) -> Result<(), LspError> {
        let done = match method {
            DidOpenTextDocument::METHOD => serde_json::from_value(params).map(|params| self.opened(params)),
            DidChangeTextDocument::METHOD => serde_json::from_value(params).map(|params| self.changed(params)),
            DidCloseTextDocument::METHOD => serde_json::from_value(params).map(|params| self.closed(params)),
            _ => return Ok(()),
        };
        done.unwrap_or_else(|e| self.log(method, &e))
    }

    fn opened(&mut self, params: DidOpenTextDocumentParams) -> Result<(), LspError> {
        let item = params.text_document;
        let path = Path::new(item.uri.path().as_str());
        let foreign = Foreign::of(&item.language_id, path, &item.text);
        let language = Language::from_id(&item.language_id)
            .or_else(|| Language::of_path(path))
            .unwrap_or_else(|| Language::of_text(&item.text));
        let open = OpenText::new(language, foreign, item.text, item.version);
        self.publish(&item.uri, &open)?;
        self.documents.insert(item.uri.as_str().to_owned(), open);
        Ok(())
    }

    fn changed(&mut self, params: DidChangeTextDocumentParams) -> Result<(), LspError> {
        let uri = params.text_document.uri;
        let Some(mut open) = self.documents.remove(uri.as_str()) else { return Ok(()) };
        // All changes, then one analysis of the whole.
        let (mut text, mut starts) = (std::mem::take(&mut open.document.text), std::mem::take(&mut open.starts));
        for change in params.content_changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let from = offset(&text, &starts, range.start, self.utf8);
                    let to = offset(&text, &starts, range.end, self.utf8).max(from);
                    text.replace_range(from..to, &change.text);
                }
            }
            starts = line_starts(&text);
        }
        let foreign = open.foreign.take();
        open = OpenText::new(open.document.language, foreign, text, params.text_document.version);
        self.publish(&uri, &open)?;
        self.documents.insert(uri.as_str().to_owned(), open);
        Ok(())
    }

    fn closed(&mut self, params: DidCloseTextDocumentParams) -> Result<(), LspError> {
        let uri = params.text_document.uri;
        self.documents.remove(uri.as_str());
        self.diagnostics(&PublishDiagnosticsParams::new(uri, Vec::new(), None))
    }

    fn publish(&mut self, uri: &Uri, open: &OpenText) -> Result<(), LspError> {
        let (shown, more) = shown_findings(&open.document.findings);
        let found = shown.iter().chain(&more).map(|finding| self.diagnostic(uri, open, finding)).collect();
        self.diagnostics(&PublishDiagnosticsParams::new(uri.clone(), found, Some(open.version)))
    }

    fn diagnostics(&mut self, params: &PublishDiagnosticsParams) -> Result<(), LspError> {
        self.send(json!({ "method": PublishDiagnostics::METHOD, "params": params }))
    }

    fn diagnostic(&self, uri: &Uri, open: &OpenText, finding: &Diagnostic) -> lsp_types::Diagnostic {
        let range = finding.labels.first().map_or_else(Range::default, |label| open.range(label.span, self.utf8));
        let related = finding.labels.iter().skip(1).map(|label| DiagnosticRelatedInformation {
            location: Location::new(uri.clone(), open.range(label.span, self.utf8)),
            message: label.message.clone(),
        });
        let related: Vec<_> = related.collect();
        let mut message = finding.message.clone();
        let own = finding.labels.first().map_or("", |label| label.message.as_str());
        for (what, text) in
            [("", own), ("see ", finding.cite.unwrap_or("")), ("", finding.help.as_deref().unwrap_or(""))]
        {
            if !text.is_empty() {
                message.push_str(&format!("\n{what}{text}"));
            }
        }
        lsp_types::Diagnostic {
            range,
            severity: Some(match finding.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
                Severity::Note => DiagnosticSeverity::INFORMATION,
            }),
            code: Some(NumberOrString::String(finding.rule.to_owned())),
            source: Some("ctm".into()),
            message,
            related_information: (!related.is_empty()).then_some(related),
            ..lsp_types::Diagnostic::default()
        }
    }

    fn answer(&self, method: &str, params: Value) -> Result<Value, Refusal> {
        fn write(answer: impl serde::Serialize) -> Result<Value, Refusal> {
            serde_json::to_value(answer).map_err(|e| (ErrorCode::InternalError, e.to_string()))
        }
        let uri = params["textDocument"]["uri"].as_str().unwrap_or("");
        if self.documents.get(uri).is_some_and(|open| open.foreign.is_some()) {
            return Ok(Value::Null);
        }
        match method {
            HoverRequest::METHOD => {
                let (open, offset, _) = self.place(&read(params)?)?;
                write(open.document.hover(offset).map(|hover| Hover {
                    contents: HoverContents::Markup(markdown(hover.markdown)),
                    range: Some(open.range(hover.span, self.utf8)),
                }))
            }
            CompletionRequest::METHOD => {
                let (open, offset, uri) = self.place(&read(params)?)?;
                let found = open.document.completions(offset);
                write(CompletionResponse::Array(found.into_iter().map(|c| item(c, &uri)).collect()))
            }
            ResolveCompletionItem::METHOD => write(self.resolved(read(params)?)),
            GotoDefinition::METHOD => {
                let (open, offset, uri) = self.place(&read(params)?)?;
                let places = match open.document.symbol_at(offset) {
                    // On a name's own register the values are more to the point than the directive.
                    Some(symbol) => vec![symbol.span],
                    None => open.document.register_places(offset),
                };
                let at = |span: &Span| Location::new(uri.clone(), open.range(*span, self.utf8));
                write(GotoDefinitionResponse::Array(places.iter().map(at).collect()))
            }
            References::METHOD => {
                let params: ReferenceParams = read(params)?;
                let (open, offset, uri) = self.place(&params.text_document_position)?;
                let places = self.uses(open, offset, params.context.include_declaration);
                let at = |span: &Span| Location::new(uri.clone(), open.range(*span, self.utf8));
                write(places.iter().map(at).collect::<Vec<_>>())
            }
            DocumentHighlightRequest::METHOD => {
                let (open, offset, _) = self.place(&read(params)?)?;
                let places = self.uses(open, offset, true);
                let at = |span: &Span| DocumentHighlight { range: open.range(*span, self.utf8), kind: None };
                write(places.iter().map(at).collect::<Vec<_>>())
            }
            DocumentSymbolRequest::METHOD => {
                let params: lsp_types::DocumentSymbolParams = read(params)?;
                let open = self.open(&params.text_document.uri)?;
                write(DocumentSymbolResponse::Nested(self.outline(open)))
            }
            Formatting::METHOD => {
                let params: DocumentFormattingParams = read(params)?;
                let open = self.open(&params.text_document.uri)?;
                let text = open.document.formatted();
                let end = Span::new(0, u32::try_from(open.text().len()).unwrap_or(u32::MAX));
                let edits = if text == open.text() {
                    Vec::new()
                } else {
                    vec![TextEdit::new(open.range(end, self.utf8), text)]
                };
                write(edits)
            }
            PrepareRenameRequest::METHOD => {
                let (open, offset, _) = self.place(&read(params)?)?;
                write(open.document.symbol_at(offset).and_then(|symbol| {
                    let here = |span: &&Span| (span.start as usize..=span.end as usize).contains(&offset);
                    let places = open.document.references(&symbol);
                    let here = places.iter().find(here).copied()?;
                    Some(PrepareRenameResponse::Range(open.range(here, self.utf8)))
                }))
            }
            Rename::METHOD => {
                let params: RenameParams = read(params)?;
                let (open, offset, uri) = self.place(&params.text_document_position)?;
                let places = open.document.rename(offset, &params.new_name);
                let places = places.map_err(|why| (ErrorCode::RequestFailed, why))?;
                let edit = |span: &Span| TextEdit::new(open.range(*span, self.utf8), params.new_name.clone());
                #[allow(clippy::mutable_key_type, reason = "the type of the protocol; addresses do not change")]
                let changes = HashMap::from([(uri, places.iter().map(edit).collect())]);
                write(WorkspaceEdit::new(changes))
            }
            InlayHintRequest::METHOD => {
                let params: InlayHintParams = read(params)?;
                let open = self.open(&params.text_document.uri)?;
                let (from, to) = (params.range.start.line as usize, params.range.end.line as usize);
                let hints = open.document.hints(from, to.saturating_add(1));
                write(hints.into_iter().map(|hint| self.hint(open, hint)).collect::<Vec<_>>())
            }
            method => Err((ErrorCode::MethodNotFound, format!("`{method}` is not done here"))),
        }
    }

    fn open(&self, uri: &Uri) -> Result<&OpenText, Refusal> {
        let unknown = || (ErrorCode::InvalidParams, format!("{} is not open", uri.as_str()));
        self.documents.get(uri.as_str()).ok_or_else(unknown)
    }

    /// The document and the byte that a request is about.
    fn place(&self, params: &TextDocumentPositionParams) -> Result<(&OpenText, usize, Uri), Refusal> {
        let uri = params.text_document.uri.clone();
        let open = self.open(&uri)?;
        Ok((open, open.offset(params.position, self.utf8), uri))
    }

    fn uses(&self, open: &OpenText, offset: usize, definition: bool) -> Vec<Span> {
        match open.document.symbol_at(offset) {
            Some(symbol) => {
                let mut places = open.document.references(&symbol);
                places.retain(|place| definition || *place != symbol.span);
                places
            }
            None => open.document.register_places(offset),
        }
    }

    #[allow(deprecated, reason = "a field of the protocol's type that must be there")]
    fn outline(&self, open: &OpenText) -> Vec<DocumentSymbol> {
        let symbols = open.document.symbols().into_iter();
        symbols
            .map(|symbol| {
                let range = open.range(symbol.span, self.utf8);
                let kind = match symbol.kind {
                    NameKind::Label => SymbolKind::FUNCTION,
                    NameKind::Declared => SymbolKind::VARIABLE,
                };
                let detail = (!symbol.stands_for.is_empty()).then_some(symbol.stands_for);
                DocumentSymbol {
                    name: symbol.name,
                    detail,
                    kind,
                    tags: None,
                    deprecated: None,
                    range,
                    selection_range: range,
                    children: None,
                }
            })
            .collect()
    }

    fn hint(&self, open: &OpenText, hint: crate::language::Hint) -> InlayHint {
        InlayHint {
            position: open.position(hint.offset, self.utf8),
            label: InlayHintLabel::String(hint.text),
            kind: None,
            text_edits: None,
            tooltip: Some(InlayHintTooltip::String(hint.tooltip)),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        }
    }

    /// A completion with its page of the manual.
    fn resolved(&self, mut item: CompletionItem) -> CompletionItem {
        let uri = item.data.as_ref().and_then(Value::as_str);
        let page =
            uri.and_then(|uri| self.documents.get(uri)).and_then(|open| open.document.completion_page(&item.label));
        if let Some(page) = page {
            let text = format!("```text\n{}\n```", page.trim_end());
            item.documentation = Some(Documentation::MarkupContent(markdown(text)));
        }
        item
    }
}

fn read<T: serde::de::DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(|e| (ErrorCode::InvalidParams, e.to_string()))
}

fn markdown(value: String) -> MarkupContent {
    MarkupContent { kind: MarkupKind::Markdown, value }
}

fn item(completion: Completion, uri: &Uri) -> CompletionItem {
    CompletionItem {
        label: completion.text,
        kind: Some(match completion.kind {
            CompletionKind::Instruction => CompletionItemKind::FUNCTION,
            CompletionKind::Modifier => CompletionItemKind::KEYWORD,
            CompletionKind::Directive => CompletionItemKind::MODULE,
            CompletionKind::Name => CompletionItemKind::VARIABLE,
            CompletionKind::Label => CompletionItemKind::REFERENCE,
            CompletionKind::Register => CompletionItemKind::FIELD,
        }),
        detail: (!completion.detail.is_empty()).then_some(completion.detail),
        data: Some(Value::String(uri.as_str().to_owned())),
        ..CompletionItem::default()
    }
}
