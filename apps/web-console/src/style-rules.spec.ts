import { styleProblems } from '../build/style-rules.js';

describe('styleProblems', () => {
  test('accepts a style sheet without problems', () =>
    expect(styleProblems('.a{--b:1px;width:var(--b);mask:url(#m)}.a>.b+.b,.a>*,.a+*{color:red}', '')).toEqual([]));

  test('refuses rules that select any element after any element', () => {
    expect(styleProblems('.a>*+*{margin:1px}', '')).toEqual(['a rule selects any element after any element: .a>*+*']);
    expect(styleProblems('.b:not(.c)>* ~ *,.d{color:red}', '')).toHaveLength(1);
    expect(styleProblems('.a>div+div{margin:1px}', '')).toHaveLength(1);
  });

  test('refuses other files: fonts, pictures, and style sheets', () => {
    expect(styleProblems('@font-face{font-family:x;src:local(x)}', '')).toEqual(['it loads another file: local(x)']);
    expect(styleProblems('@font-face{font-family:x;src:url(x.woff2)}', '')).toEqual([
      'it loads another file: url(x.woff2)',
    ]);
    expect(styleProblems('@font-face{font-family:x;src:url(data:font/woff2;base64,AA)}', '')).toEqual([]);
    expect(styleProblems('.a{background:url("x.png")}', '')).toEqual(['it loads another file: url("x.png")']);
    expect(styleProblems('.a{background:url(data:image/png;base64,AA)}', '')).toEqual([]);
  });

  test('refuses custom properties that nothing declares, unless there is a fallback', () => {
    expect(styleProblems('.a{width:var(--b)}', '')).toEqual(['--b is read but never declared.']);
    expect(styleProblems('.a{width:var(--b,1px)}', '')).toEqual([]);
    expect(styleProblems('.a{width:var(--b)}', 'style={{"--b":x}}')).toEqual([]);
  });

  test('refuses custom properties that nothing reads', () => {
    expect(styleProblems('.a{--b:1px}', '')).toEqual(['--b is never read.']);
    expect(styleProblems('.a{--b:1px}', 'getPropertyValue("--b")')).toEqual([]);
  });

  test('refuses classes that no element has', () => {
    expect(styleProblems('.hg-a{color:red}.hg-b--c{color:red}', 'className="hg-ab"')).toEqual([
      'no element has the class hg-a.',
      'no element has the class hg-b--c.',
    ]);
    expect(styleProblems('.hg-a{color:red}.hg-b--c{color:red}', 'className:`hg-a hg-b--${x}`')).toEqual([]);
  });
});
