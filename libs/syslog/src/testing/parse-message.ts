/** A message of RFC 5424, split by its grammar. */
export interface ParsedMessage {
  readonly priority: number;
  readonly time: string;
  readonly host: string;
  readonly app: string;
  readonly process: string;
  readonly id: string;
  readonly data: Readonly<Record<string, string>>;
  readonly text: string;
}

const HEADER =
  /^<(\d{1,3})>1 (-|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,6}Z) ([!-~]{1,255}) ([!-~]{1,48}) ([!-~]{1,128}) ([!-~]{1,32}) \[([!#-<>-Z^-~]{1,32})/;
const PARAMETER = /^ ([!#-<>-Z^-~]{1,32})="((?:[^"\\\]]|\\["\\\]])*)"/;

/** @throws Error for anything that the grammar does not allow. It is stricter: no control characters anywhere */
export function parseMessage(message: string): ParsedMessage {
  if (/\p{Cc}/u.test(message)) throw new Error('There is a control character.');
  const [start, priority, time = '', host = '', app = '', process = '', id = ''] = HEADER.exec(message) ?? [];
  if (start === undefined) throw new Error(`no header: ${message}`);
  let rest = message.slice(start.length);
  const data: Record<string, string> = {};
  for (let found = PARAMETER.exec(rest); found; found = PARAMETER.exec(rest)) {
    const [all, name = '', value = ''] = found;
    data[name] = value.replace(/\\(["\\\]])/g, '$1');
    rest = rest.slice(all.length);
  }
  if (!rest.startsWith('] \uFEFF')) throw new Error(`no end of the structured data: ${rest}`);
  return { priority: Number(priority), time, host, app, process, id, data, text: rest.slice(3) };
}
