// Extracts the texts of the code into texts/*.po, and fails while a text has no German translation or another one than
// the code. With `--check`, nothing is written.
import { extract, findProblems, writeCatalogs } from '../build/extract-texts.js';

const extracted = await extract();
if (!process.argv.includes('--check')) await writeCatalogs();
const problems = await findProblems(extracted);
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`${Object.keys(extracted).length} texts are translated.`);
process.exitCode = problems.length === 0 ? 0 : 1;
