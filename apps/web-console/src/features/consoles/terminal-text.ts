import type { Terminal } from '@xterm/xterm';

/** The terminal's buffer as lines of text. Wrapped lines are joined. */
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
