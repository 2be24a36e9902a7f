import { rmSync } from 'node:fs';

/** Removes the folders of the workers, whose namespaces are gone. */
export default function teardown() {
  process.execPath = process.env['HEADGATE_TEST_NODE'] ?? process.execPath;
  const folder = process.env['HEADGATE_TEST_FOLDER'];
  if (folder) rmSync(folder, { recursive: true, force: true });
}
