// Links that hold a program: the entry and its changed texts, compressed, in the fragment of the address, which no browser sends anywhere.
import { at, entries, entry, files, given, launch, moved, open, originals, server, status } from "./state";

/** The held state; of an entry of the user's, all its texts. */
interface Linked { entry: string; files: Record<string, string>; own?: boolean; launch?: number | null; sliders?: Record<number, number>; at?: [number, number] | null }

const KEY = "#program=";

async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

async function packed(linked: Linked) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(linked)), new CompressionStream("deflate-raw"));
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpacked(text: string): Promise<Linked> {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const linked = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))));
  if (typeof linked.entry !== "string" || typeof linked.files !== "object") throw new Error("it names no program");
  return linked;
}

/** The address of the page with the program as it is. */
export async function link() {
  if (given.value) throw new Error(`a link holds texts, and a ${given.value} is none; send the file`);
  const own = entries.value.find((one) => one.name === entry.value)?.part === "own";
  const held = files.value.filter((one) => own || originals.value[one.name] !== one.text);
  const texts = Object.fromEntries(held.map((one) => [one.name, one.text]));
  const state: Linked = { entry: entry.value, files: texts, launch: launch.value, sliders: moved.value, at: at.value };
  return location.href.split("#")[0] + KEY + await packed(own ? { ...state, own } : state);
}

/** Puts the address with the program into the address bar and the clipboard. */
export async function copyLink() {
  const address = await link();
  history.replaceState(null, "", address);
  const copied = await navigator.clipboard?.writeText(address).then(() => true, () => false);
  status.value = `a link of ${address.length} characters ${copied ? "is in the clipboard" : "is in the address bar"}`;
}

/** Opens the program of the address, if it holds one. */
export async function followLink() {
  if (!location.hash.startsWith(KEY)) return false;
  let linked;
  try {
    linked = await unpacked(location.hash.slice(KEY.length));
  } catch (error) {
    throw new Error(`the link is damaged: ${(error as Error).message}`);
  }
  const { entry: name, files: texts, ...more } = linked;
  if (linked.own && server.put) {
    const folder = name.split("/").slice(0, -1).map((part) => part + "/").join("");
    await server.put(Object.entries(texts).map(([file, text]) => [folder + file, new TextEncoder().encode(text)]));
    entries.value = (await server.ask("entries", {})).entries;
  }
  if (!entries.value.some((one) => one.name === name)) throw new Error(`the link is for ${name}, which is not here`);
  await open(name, { texts, ...more });
  return true;
}
