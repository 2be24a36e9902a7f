import type { Terminal } from '@xterm/xterm';

/** Everything the terminal still holds, as lines; long ones that were wrapped are whole again. */
export function terminalText({ buffer: { active } }: Pick<Terminal, 'buffer'>): string {
  const lines: string[] = [];
  for (let index = 0; index < active.length; index++) {
    const line = active.getLine(index);
    if (!line) continue;
    const text = line.translateToString(true);
    if (line.isWrapped && lines.length > 0) lines.push(`${lines.pop() ?? ''}${text}`);
    else lines.push(text);
  }
  return `${lines.join('\n').trimEnd()}\n`;
}
