import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of kubectl; undefined when it is not installed. */
export function findKubectl(): string | undefined {
  const candidates = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'kubectl'));
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
