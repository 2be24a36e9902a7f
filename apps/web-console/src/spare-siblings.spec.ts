import { withoutUniversalSiblings } from '../build/spare-siblings.js';

describe('withoutUniversalSiblings', () => {
  test('says «not the first» instead of «after any»', () => {
    expect(withoutUniversalSiblings('.a>*+*{margin:1px}.b:not(.c)>*~*,.d{color:red}')).toBe(
      '.a>:not(:first-child){margin:1px}.b:not(.c)>:not(:first-child),.d{color:red}',
    );
  });

  test('leaves siblings that have a name as they are', () => {
    const css = '.a>*{color:red}.a+*{color:red}.a>.b+.b{color:red}';
    expect(withoutUniversalSiblings(css)).toBe(css);
  });
});
