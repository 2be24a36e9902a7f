import { t } from '@lingui/core/macro';
import type { Terminal } from '@xterm/xterm';
import { useState } from 'react';
import { TextInput } from '../../../shared/ui/inputs.js';
import { hitsIn, showHit } from '../terminal-search.js';
import { ConsoleTool } from './console-tool.js';

interface Found {
  readonly text: string;
  readonly index: number;
  readonly count: number;
}

/**
 * Searches the output of a terminal, from the newest line back. Enter goes to the earlier hit, Shift Enter to the later
 * one.
 */
export function TerminalSearch({ terminal }: { terminal: Terminal | undefined }) {
  const [text, setText] = useState('');
  const [found, setFound] = useState<Found>();
  const go = (by: 1 | -1): void => {
    if (!terminal || text === '') return;
    // The output goes on: the hits are looked up each time.
    const hits = hitsIn(terminal, text);
    const from = found?.text === text ? found.index + by : hits.length - 1;
    const index = hits.length === 0 ? 0 : (from + hits.length) % hits.length;
    const hit = hits[index];
    if (hit) showHit(terminal, hit);
    setFound({ text, index, count: hits.length });
  };
  return (
    <form
      role="search"
      className="hg-terminal-search"
      onSubmit={(event) => {
        event.preventDefault();
        go(-1);
      }}
    >
      <TextInput
        value={text}
        onChange={setText}
        placeholder={t`Search the output`}
        aria-label={t`Search the output`}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !event.shiftKey) return;
          event.preventDefault();
          go(1);
        }}
      />
      <span className="hg-note" role="status">
        {found && found.text === text && (found.count === 0 ? t`Not found` : t`${found.index + 1} of ${found.count}`)}
      </span>
      <ConsoleTool icon="up" isIconOnly isDisabled={text === ''} onClick={() => go(-1)}>
        {t`Earlier hit`}
      </ConsoleTool>
      <ConsoleTool icon="expandDown" isIconOnly isDisabled={text === ''} onClick={() => go(1)}>
        {t`Later hit`}
      </ConsoleTool>
    </form>
  );
}
