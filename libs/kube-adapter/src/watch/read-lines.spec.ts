import { LineSplitter } from './read-lines.js';

describe('LineSplitter', () => {
  const text = '{"a":"é"}\n{"b":2}\n\n{"c":3}\n{"cut';
  const bytes = Buffer.from(text);

  test.each(Array.from({ length: bytes.length }, (_, i) => i))(
    'emits the same lines when the chunks end after byte %i',
    (at) => {
      const splitter = new LineSplitter();
      const lines = [...splitter.push(bytes.subarray(0, at)), ...splitter.push(bytes.subarray(at))];
      expect(lines).toEqual(['{"a":"é"}', '{"b":2}', '{"c":3}']);
    },
  );

  test('emits the same lines when they arrive byte by byte', () => {
    const splitter = new LineSplitter();
    const lines = [...bytes].flatMap((byte) => [...splitter.push(Buffer.from([byte]))]);
    expect(lines).toEqual(['{"a":"é"}', '{"b":2}', '{"c":3}']);
  });

  test('refuses an endless line', () => {
    const splitter = new LineSplitter();
    const chunk = Buffer.alloc(8 * 1024 * 1024, 0x61);
    expect(() => {
      for (let i = 0; i < 3; i++) void [...splitter.push(chunk)];
    }).toThrow(/longer than/);
  });
});
