import { lowerUploadSize } from './media-config.js';

const lowered = (text: string) =>
  lowerUploadSize({ status: 200, headers: ['Content-Length', '9'], body: Buffer.from(text) }, 100).body.toString();

describe('lowerUploadSize', () => {
  test.each([
    ['{"m.upload.size":50,"n":1.0}', '{"m.upload.size":50,"n":1.0}'],
    ['{"m.upload.size":500,"n":1.0}', '{"m.upload.size":100,"n":1.0}'],
    ['{"n":12345678901234567890}', '{"n":12345678901234567890,"m.upload.size":100}'],
    ['{}', '{"m.upload.size":100}'],
    ['{"m.upload.size":100}', '{"m.upload.size":100}'],
    ['{"m.upload.size":101}', '{"m.upload.size":100}'],
    ['{"m.upload.size":0}', '{"m.upload.size":0}'],
    ['{"m.upload.size":null}', '{"m.upload.size":100}'],
    ['{"m.upload.size":"50"}', '{"m.upload.size":100}'],
    ['{"m.upload.size":1e999}', '{"m.upload.size":100}'],
    ['[500]', '[500]'],
    ['null', 'null'],
    ['', ''],
    ['no json', 'no json'],
  ])('turns %s into %s', (before, after) => expect(lowered(before)).toBe(after));

  test('does not change a refusal', () => {
    const refusal = { status: 401, headers: [], body: Buffer.from('{}') };
    expect(lowerUploadSize(refusal, 100)).toBe(refusal);
  });
});
