// Made of crates/ctm-ide/src/serve/wire.rs by its test (CTM_WRITE=1 writes it); not by hand.

export interface Question {
  /** The open entry. */
  entry?: string | null;
  /** Its texts as the page has them, by name. */
  files?: Record<string, string>;
  /** The pass, draw or launch, from 0. */
  launch?: number | null;
  /** Of a draw: which run of the pixel program for the pixel, from 0; none: the last. */
  fragment?: number | null;
  /** Of a draw: `vertex` for the vertex program, where `at` is the vertex's number and instance. */
  stage?: string | null;
  /** Sliders that have been moved: the number in the answer of `run`, and the value. */
  sliders?: ([number, number])[];
  /** How far the viewer of a draw has moved around the point that it sees: degrees to the right, and up. */
  turn?: [number, number] | null;
  /** Its distance, as a multiple of the job's. */
  distance?: number | null;
  /** The point of a draw's animation, 0 to 1: how much of `spin` its meshes have turned. */
  time?: number | null;
  /** A number that the page chooses: `progress` asks by it how far a profile is. */
  ticket?: number | null;
  /** The processor or pixel: column and row. */
  at?: [number, number] | null;
  /** The place that `why` asks about. */
  value?: string | null;
  /** `why` asks about its value before this step. */
  step?: number | null;
  /** A program. */
  text?: string | null;
  /** The name of its file. */
  name?: string | null;
  /** Its language, as editors call it. */
  language?: string | null;
  /** A place in the text, in units of UTF-16. */
  offset?: number | null;
  /** A word of the manual. */
  topic?: string | null;
}

export interface Entries {
  /** The user's files first. */
  entries: (Entry)[];
}

export interface Entry {
  /** Its name: unique. */
  name: string;
  /** `own`, or the part of the gallery. */
  part: string;
  /** One sentence: a thing to look at. */
  says: string;
  /** A pixel worth a look: column and row. */
  at: [number, number] | null;
}

export interface Opened {
  /** Its texts, the job first; empty for captures and recordings. */
  files: (TextFile)[];
  /** `capture` or `recording`, whose texts cannot be edited. */
  given: string | null;
  /** It draws: pixels have histories, and draws have primitives. */
  draws: boolean;
}

export interface TextFile {
  /** The file's name without its folder. */
  name: string;
  /** Its text. */
  text: string;
  /** Its language, as editors call it. */
  language: string | null;
}

export interface Findings {
  /** In the order of the text. */
  findings: (PageFinding)[];
}

export interface PageFinding {
  /** Its first unit. */
  from: number;
  /** The unit after it. */
  to: number;
  /** `error`, `warning` or `info`. */
  severity: string;
  /** The rule. */
  rule: string;
  /** What is wrong, and help. */
  message: string;
}

export interface MaybeText {
  /** It. */
  text: string | null;
}

export interface Completions {
  /** The best first. */
  items: (Completion)[];
}

export interface Completion {
  /** The word. */
  label: string;
  /** What it is. */
  detail: string;
}

export interface Definition {
  /** In units of UTF-16. */
  offset: number | null;
}

export interface Page {
  /** Its text. */
  text: string;
}

export interface Launches {
  /** One line each. */
  launches: (string)[];
}

export interface Run {
  /** The outputs that can be shown. */
  outputs: (Output)[];
  /** Findings. */
  said: string;
  /** How long it took. */
  milliseconds: number;
  /** First column and row, last column and row. */
  domain: [number, number, number, number] | null;
  /** The programs of a capture or recording. */
  files: (TextFile)[];
  /** The sliders of the job file. */
  sliders: (SliderState)[];
  /** It is a draw job with a viewer, which can be moved. */
  viewer: boolean;
  /** Meshes turn in the course of its animation. */
  spins: boolean;
}

export interface SliderState {
  /** The constant. */
  constant: string;
  /** Which of its numbers. */
  element: number;
  /** The least value. */
  from: number;
  /** The largest value. */
  to: number;
  /** The value of this run. */
  value: number;
  /** How long the way takes when it is played. */
  seconds: number | null;
}

export interface Output {
  /** Its name. */
  name: string;
  /** Columns. */
  width: number;
  /** Rows. */
  height: number;
  /** Channels. */
  channels: number;
  /** The column of its first element. */
  left: number;
  /** The row of its first element. */
  top: number;
  /** Of large outputs, which have no numbers: as a picture, the address of a PNG. */
  picture: string | null;
  /** The numbers, row by row: floats of 32 bits, little end first. A server sends them in base 64. */
  values: string | Float32Array | null;
}

export interface Thumbnail {
  /** The address of a PNG; none where there is no output that can be shown. */
  picture: string | null;
}

export interface Trace {
  /** In words. */
  title: string;
  /** `x1k` or `r700`. */
  isa: string;
  /** The name of the text. */
  name: string;
  /** The text. */
  text: string;
  /** The asked-for lane. */
  lane: number;
  /** Column and row of each lane. */
  positions: ([number, number])[];
  /** Names of places. */
  places: (string)[];
  /** Places that hold yes or no. */
  flags: (number)[];
  /** Values at the start: lane, place, bits. */
  start: ([number, number, number])[];
  /** Instructions. */
  instructions: (Instruction)[];
  /** Sets of executing lanes. */
  masks: ((number)[])[];
  /** The steps in order. */
  steps: (TraceStep)[];
  /** The fault that ended the group. */
  fault: string | null;
  /** It goes on after the last step. */
  cut: boolean;
  /** The GLSL that the program was compiled from, where the job names it. */
  glsl: GlslText | null;
}

export interface GlslText {
  /** Its file's name without its folder. */
  name: string;
  /** Its text. */
  text: string;
  /** Lines of the program's text with lines of this one, both from 1. */
  pairs: ([number, number])[];
}

export interface Instruction {
  /** Its place in the program. */
  pc: string;
  /** Its line, from 1; 0 without one. */
  line: number;
  /** The text of the line. */
  text: string;
}

export interface TraceStep {
  /** The instruction's number in `instructions`. */
  at: number;
  /** The executing lanes: their number in `masks`. */
  mask: number;
  /** Lane; its reads as place, bits, ...; its writes as place, old bits, new bits, line, ... */
  lanes: ([number, (number)[], (number)[]])[];
  /** Changed states: first lane, a letter each, the stack. */
  flow: [number, string, (string)[]] | null;
}

export interface Why {
  /** One for each place. */
  trees: (WhyTree)[];
}

export interface WhyTree {
  /** The place. */
  place: string;
  /** The values, the asked-for one first; empty where nothing wrote it. */
  nodes: (WhyNode)[];
}

export interface WhyNode {
  /** Its place. */
  place: string;
  /** Column and row of its lane. */
  position: [number, number] | null;
  /** Its bits. */
  bits: number;
  /** It is yes or no. */
  flag: boolean;
  /** `made`, `constant`, `memory` or `start`. */
  kind: string;
  /** The step that made it. */
  step: number | null;
  /** The line of the instruction. */
  line: number | null;
  /** The text of the line. */
  text: string;
  /** The line of the GLSL, where it is known. */
  glsl: number | null;
  /** The values that it was made of, by number. */
  from: (number)[];
}

export interface ProfileShare {
  /** The share that is counted, 0 to 1; none before it begins and after its end. */
  share: number | null;
}

export interface ProfileCounts {
  /** The name of the text. */
  name: string;
  /** Lines that were executed. */
  lines: (LineCount)[];
  /** Instructions of each processor. */
  instructions: CountMap;
  /** Instructions for which each processor waited. */
  waited: CountMap;
  /** The fault that ended it. */
  fault: string | null;
  /** Basic blocks of the executed instructions, in the order of the text. */
  blocks: (GraphBlock)[];
  /** Edges between them. */
  edges: (GraphEdge)[];
}

export interface GraphBlock {
  /** The lines of its instructions. */
  lines: (number)[];
  /** Executions. */
  runs: number;
  /** Lanes that executed it, on average. */
  lanes: number;
}

export interface GraphEdge {
  /** The number of a block. */
  from: number;
  /** The number of the next block. */
  to: number;
  /** How often. */
  times: number;
}

export interface LineCount {
  /** The line, from 1. */
  line: number;
  /** Executions. */
  runs: number;
  /** Lanes that executed it, on average. */
  lanes: number;
  /** The share of executions with some lanes off. */
  split: number;
  /** Fetches. */
  fetches: number;
  /** Clocks. */
  clocks: number;
  /** The text of the line. */
  text: string;
}

export interface Inspected {
  /** In order. */
  draws: (InspectedDraw)[];
}

export interface InspectedDraw {
  /** In words. */
  name: string;
  /** Primitives. */
  primitives: number;
  /** Of these, those with a pixel in the targets. */
  rasterised: number;
  /** The pixels of the targets that these cover. */
  covered: number;
  /** Of these, those whose colours changed. */
  stored: number;
  /** Where the others ended. */
  lost: (LostCount)[];
  /** The draw failed: nothing is counted. */
  failed: boolean;
  /** The first primitives in the window. */
  shapes: (Shape)[];
  /** There are more primitives. */
  cut: boolean;
  /** Fragments of the pixel, in order. */
  fragments: (HistoryFragment)[];
}

export interface LostCount {
  /** Pixels, not primitives. */
  pixels: boolean;
  /** The stage. */
  key: string;
  /** In words. */
  words: string;
  /** How many. */
  count: number;
  /** The state that decides. */
  state: string;
}

export interface Shape {
  /** Its number. */
  primitive: number;
  /** Its instance. */
  instance: number;
  /** The numbers of its vertices. */
  vertices: [number, number, number];
  /** Column, row and depth of its corners; none where it ended before the window. */
  corners: [[number, number, number], [number, number, number], [number, number, number]] | null;
  /** A front face. */
  front: boolean;
  /** Where it ended. */
  lost: string | null;
}

export interface HistoryFragment {
  /** The number of its primitive. */
  primitive: number;
  /** Its instance. */
  instance: number;
  /** A front face. */
  front: boolean;
  /** The sample that the program ran for. */
  sample: number | null;
  /** Covered samples, a bit each. */
  covered: number;
  /** Samples that passed. */
  passed: number;
  /** Which run of the pixel program for the pixel it was. */
  run: number | null;
  /** How it ended. */
  ending: string;
  /** It was stored. */
  kept: boolean;
  /** Depth and stencil. */
  tests: (HistoryTest)[];
  /** Exports of the program. */
  exported: (HistoryExport)[];
  /** Stores. */
  stored: (HistoryStore)[];
}

export interface HistoryTest {
  /** The sample. */
  sample: number;
  /** The new depth. */
  depth: number;
  /** The depth that was there. */
  stored_depth: number;
  /** The stencil value that was there. */
  stored_stencil: number;
  /** The depth test passed. */
  depth_passes: boolean;
  /** The stencil test passed. */
  stencil_passes: boolean;
}

export interface HistoryExport {
  /** The output. */
  output: number;
  /** Bits. */
  bits: [number, number, number, number];
}

export interface HistoryStore {
  /** The target. */
  target: number;
  /** The sample. */
  sample: number;
  /** Bits that were there. */
  before: [number, number, number, number];
  /** Bits after. */
  after: [number, number, number, number];
}

export interface Vertices {
  /** Names of fetched values. */
  inputs: (string)[];
  /** Names of exported values. */
  outputs: (string)[];
  /** In order. */
  rows: (VertexRow)[];
  /** There are more. */
  cut: boolean;
}

export interface VertexRow {
  /** Its number. */
  vertex: number;
  /** Its instance. */
  instance: number;
  /** The bits of fetched values. */
  inputs: (number | null)[];
  /** The bits of exported values. */
  outputs: (number | null)[];
}

export interface CountMap {
  /** The address of a PNG. */
  picture: string;
  /** The largest count, which is white. */
  most: number;
}

export interface Answers {
  entries: Entries;
  open: Opened;
  check: Findings;
  hover: MaybeText;
  complete: Completions;
  definition: Definition;
  format: Page;
  words: Record<string, ([string, string])[]>;
  manual: Page;
  launches: Launches;
  run: Run;
  thumbnail: Thumbnail;
  trace: Trace;
  why: Why;
  profile: ProfileCounts;
  progress: ProfileShare;
  inspect: Inspected;
  vertices: Vertices;
}
