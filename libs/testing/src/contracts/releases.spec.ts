import { Releases } from './releases.js';

describe('Releases', () => {
  const released: string[] = [];
  const release = (name: string): void => void released.push(name);
  beforeEach(() => void (released.length = 0));

  test('releases everything once, the last opened first', async () => {
    const releases = new Releases();
    for (const name of ['harness', 'recorder', 'unreachable']) await releases.open(async () => name, release);
    await releases.releaseAll();
    await releases.releaseAll();
    expect(released).toEqual(['unreachable', 'recorder', 'harness']);
  });

  test('releases the others when one fails, and throws its error', async () => {
    const releases = new Releases();
    await releases.open(async () => 'harness', release);
    await releases.open(
      async () => 'recorder',
      () => Promise.reject(new Error('The watch is stuck.')),
    );
    await expect(releases.releaseAll()).rejects.toThrow('The watch is stuck.');
    expect(released).toEqual(['harness']);
  });

  test('releases a thing that is opened after the end', async () => {
    const releases = new Releases();
    let open!: (name: string) => void;
    const late = releases.open(() => new Promise<string>((resolve) => (open = resolve)), release);
    await releases.releaseAll();
    expect(released).toEqual([]);
    open('harness');
    await expect(late).rejects.toThrow('too late');
    expect(released).toEqual(['harness']);
  });

  test('releases nothing that could not be opened', async () => {
    const releases = new Releases();
    const failing = releases.open(() => Promise.reject(new Error('It does not start.')), release);
    await expect(failing).rejects.toThrow('It does not start.');
    await releases.releaseAll();
    expect(released).toEqual([]);
  });
});
