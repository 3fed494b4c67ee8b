// Files of the user, dropped into the window or chosen: they stay in the page.
import { attempt, entries, open, server, status } from "./state";

async function read(file: File, path: string): Promise<[string, Uint8Array]> {
  return [path, new Uint8Array(await file.arrayBuffer())];
}

/** All files of a folder and below. */
async function within(entry: FileSystemEntry, path: string): Promise<[string, Uint8Array][]> {
  if (entry.isFile) return [await read(await new Promise<File>((found, failed) => (entry as FileSystemFileEntry).file(found, failed)), path + entry.name)];
  const reader = (entry as FileSystemDirectoryEntry).createReader(), out: [string, Uint8Array][] = [];
  for (;;) {
    // A folder comes in parts.
    const part = await new Promise<FileSystemEntry[]>((found, failed) => reader.readEntries(found, failed));
    if (!part.length) return out;
    for (const one of part) out.push(...await within(one, `${path}${entry.name}/`));
  }
}

/** Puts files on the page, and opens the first one that can be opened. */
export async function put(files: [string, Uint8Array][]) {
  const names = await server.put!(files);
  entries.value = (await server.ask("entries", {})).entries;
  if (names.length) await open(names[0]);
  else status.value = `${files.length === 1 ? files[0][0] : `${files.length} files`}: nothing to open; a job can name ${files.length === 1 ? "it" : "them"}`;
}

export const choose = (files: FileList) => attempt(async () => put(await Promise.all([...files].map((file) => read(file, file.name)))));

/** From here on, files can be dropped into the window. */
export function acceptDrops() {
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    // They are gone after the event.
    const dropped = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry()).filter((one) => one !== null);
    const files = [...(event.dataTransfer?.files ?? [])];
    if (!files.length) return;
    attempt(async () => put(dropped.length ? (await Promise.all(dropped.map((one) => within(one, "")))).flat() : await Promise.all(files.map((file) => read(file, file.name)))));
  });
}
