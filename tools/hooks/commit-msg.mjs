// Refuses a commit message that does not follow docs/style.md.
import { readFileSync } from 'node:fs';
import { findProblems } from './message.mjs';

const problems = findProblems(readFileSync(process.argv[2], 'utf8'));
if (problems.length > 0) {
  console.error(`The commit message does not follow docs/style.md:\n  ${problems.join('\n  ')}`);
  process.exit(1);
}
