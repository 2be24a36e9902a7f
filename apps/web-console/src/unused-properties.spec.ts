import { withoutUnusedProperties } from '../build/drop-unused-properties.js';

describe('withoutUnusedProperties', () => {
  test('drops what nothing reads, and what only the dropped ones read', () => {
    const css = '.a{--used:1px;--unused:var(--only-here);--only-here:2px;width:var(--used)}';
    expect(withoutUnusedProperties(css, '')).toBe('.a{--used:1px;width:var(--used)}');
  });

  test('keeps what the script names', () => {
    const css = '.a{--from-script:1px;color:red}';
    expect(withoutUnusedProperties(css, 'style.setProperty("--from-script", x)')).toBe(css);
  });

  test('keeps a fallback and a last declaration without semicolon whole', () => {
    const css = '.a{width:var(--x,var(--y))}.b{--y:"a;b}"}';
    expect(withoutUnusedProperties(css, '')).toBe(css);
  });
});
