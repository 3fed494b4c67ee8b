// 32 bits as people read them, and bytes as text.
const bytes = new DataView(new ArrayBuffer(4));

export type Form = "float" | "hex" | "int";

export function asFloat(bits: number) {
  bytes.setUint32(0, bits);
  return bytes.getFloat32(0);
}

export function short(value: number, digits = 7) {
  if (Object.is(value, -0)) return "-0";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "inf" : "-inf";
  return String(parseFloat(value.toPrecision(digits)));
}

export const hex = (bits: number) => "0x" + (bits >>> 0).toString(16).padStart(8, "0");

export function number(bits: number, form: Form, digits = 7) {
  if (form === "hex") return hex(bits);
  bytes.setUint32(0, bits);
  if (form === "int") return String(bytes.getInt32(0));
  return short(bytes.getFloat32(0), digits);
}

export function floats(base64: string) {
  const text = atob(base64), out = new Uint8Array(text.length);
  for (let n = 0; n < text.length; n++) out[n] = text.charCodeAt(n);
  return new Float32Array(out.buffer);
}

export function base64(data: Uint8Array) {
  let text = "";
  for (let at = 0; at < data.length; at += 0x8000) text += String.fromCharCode(...data.subarray(at, at + 0x8000));
  return btoa(text);
}

/** A channel of a colour as a byte. */
export const byte = (value: number) => (value > 0 ? Math.min(255, Math.round(value * 255)) : 0);
