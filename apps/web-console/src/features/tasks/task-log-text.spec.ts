import { buildTask } from '../../testing/build-task.js';
import { TaskLogText } from './task-log-text.js';

const MAX_LOG_CHARS = 262_144;

describe('TaskLogText', () => {
  test('takes a part that it has already only once', () => {
    const log = new TaskLogText();
    log.replace({ ...buildTask({ log: 'one' }), logOffset: 4 });
    log.append({ offset: 0, text: 'one\ntwo\n' });
    log.append({ offset: 4, text: 'two\n' });
    expect(log.text).toBe('one\ntwo\n');
  });

  test('says where lines are missing', () => {
    const log = new TaskLogText();
    log.replace({ ...buildTask({ log: '' }), logOffset: 0 });
    log.append({ offset: 100, text: 'late\n' });
    expect(log.text).toBe('[Some lines were cut]\nlate\n');
  });

  test('stays bounded, and keeps the last lines', () => {
    const log = new TaskLogText();
    for (let line = 0, offset = 0; line < 50_000; line++) {
      const text = `line ${line}\n`;
      log.append({ offset, text });
      offset += text.length;
      if (log.text.length > MAX_LOG_CHARS + 100) throw new Error('too long');
    }
    expect(log.text).toMatch(/^\[Some lines were cut\]\nline \d+\n/);
    expect(log.text.endsWith('line 49999\n')).toBe(true);
  });
});
