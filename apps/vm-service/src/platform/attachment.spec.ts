import { attachment } from './attachment.js';

describe('The name of a download', () => {
  test.each([
    ['report.txt', `attachment; filename="report.txt"; filename*=UTF-8''report.txt`],
    ['Übung 1.txt', `attachment; filename="_bung 1.txt"; filename*=UTF-8''%C3%9Cbung%201.txt`],
    ['a"; filename="b.exe', `attachment; filename="a__ filename=_b.exe"; filename*=UTF-8''a_%3B%20filename%3D_b.exe`],
    ['a\r\nset-cookie: x', `attachment; filename="a__set-cookie_ x"; filename*=UTF-8''a__set-cookie_%20x`],
    ['..\\..\\x', `attachment; filename="__.._x"; filename*=UTF-8''__.._x`],
    ['.bashrc', `attachment; filename="_bashrc"; filename*=UTF-8''_bashrc`],
    ['bad%FF', `attachment; filename="bad_FF"; filename*=UTF-8''bad%25FF`],
    ['gpj.\u202etxt', `attachment; filename="gpj._txt"; filename*=UTF-8''gpj._txt`],
    ['', `attachment; filename="file"; filename*=UTF-8''file`],
  ])('%j', (name, header) => {
    expect(attachment(name)).toBe(header);
  });

  test('keeps the end of a long name, with its extension', () => {
    expect(attachment(`${'x'.repeat(500)}.tar`)).toMatch(/^attachment; filename="x{146}\.tar"/);
  });
});
