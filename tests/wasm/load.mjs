// Loads a built module the way every caller does: the bytes are handed over, nothing is fetched.
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

export async function loadModule(folder) {
  const { default: createLinearMem } = await import(pathToFileURL(path.resolve(folder, 'linearmem.mjs')).href);
  return createLinearMem({ wasmBinary: await readFile(path.join(folder, 'linearmem.wasm')) });
}

// The folder under test is named by the build.
export const moduleFolder = process.env.LINEARMEM_MODULE_FOLDER;
