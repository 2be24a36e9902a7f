// Reads [{path, source}] as JSON and prints the rules that each source breaks, in order; one process for all of them.
import { ESLint } from 'eslint';

let input = '';
for await (const chunk of process.stdin) input += chunk;
const eslint = new ESLint();
const broken = [];
for (const { path, source } of JSON.parse(input)) {
  const [file] = await eslint.lintText(source, { filePath: path });
  broken.push(file.messages.map(({ ruleId }) => ruleId));
}
process.stdout.write(JSON.stringify(broken));
