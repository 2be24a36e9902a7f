import { FixedClock } from '@headgate/testing';
import { Flow } from './flow.js';
import type { Viewer } from './viewer.js';

/** A viewer whose bytes leave when the test says so. */
class HeldViewer implements Viewer {
  readonly viewOnly = false;
  readonly buffered = 0;
  readonly leave: (() => void)[] = [];
  send(_data: Buffer, left: () => void): void {
    this.leave.push(left);
  }
  onInput(): void {}
  onClose(): void {}
  pause(): void {}
  resume(): void {}
  close(): void {}
}

describe('Flow', () => {
  const data = Buffer.from('login: ');
  let recycled: Buffer[];
  let flow: Flow;

  beforeEach(() => {
    recycled = [];
    flow = new Flow(new FixedClock(), {
      pause: () => undefined,
      resume: () => undefined,
      recycle: (buffer) => void recycled.push(buffer),
    });
  });

  test('gives a buffer back when it has left for the last of its viewers', () => {
    const viewers = [new HeldViewer(), new HeldViewer()];
    for (const viewer of viewers) flow.add(viewer);
    flow.send(data);
    viewers[0]?.leave[0]?.();
    expect(recycled).toEqual([]);
    viewers[1]?.leave[0]?.();
    expect(recycled).toEqual([data]);
  });

  test('does not reuse a buffer that is on its way to a viewer that has left', () => {
    const [stays, goes] = [new HeldViewer(), new HeldViewer()];
    for (const viewer of [stays, goes]) flow.add(viewer);
    flow.send(data);
    flow.remove(goes);
    stays.leave[0]?.();
    expect(recycled).toEqual([]);
  });

  test('reuses a buffer immediately when there are no viewers', () => {
    flow.send(data);
    expect(recycled).toEqual([data]);
  });
});
