import { parseLabelSelector } from './label-selector.js';

describe('parseLabelSelector', () => {
  const labels = { app: 'web', tier: 'front', size: '5', empty: '' };

  test.each([
    ['', true],
    [' ', true],
    ['app', true],
    ['!app', false],
    ['! legacy', true],
    ['app=web,tier == front', true],
    ['app!=web', false],
    ['app in (api, web)', true],
    ['app in (in, notin)', false],
    ['app notin (web)', false],
    ['in=x', false],
    ['empty=', true],
    ['empty in ()', true],
    ['empty in (a,)', true],
    ['size>4,size<6', true],
    ['size>5', false],
    ['absent>1', false],
    ['app\n=\tweb', true],
  ])('matches %j: %s', (text, expected) => {
    expect(parseLabelSelector(text)(labels)).toBe(expected);
  });

  test.each([
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a constructor (b)', "unable to parse requirement: found 'constructor', expected: in, notin, =, ==, !=, gt, lt"],
    ['a (b)', "unable to parse requirement: found '(', expected: in, notin, =, ==, !=, gt, lt"],
    ['=b', "found '=', expected: !, identifier, or 'end of string'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    ['a,=b', "found '=', expected: identifier after ','"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
    ['a in (=)', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a>b', `unable to parse requirement: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be`],
    ['-a=b', 'unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of'],
    ['a=b!', "found '!', expected: ',' or 'end of string'"],
    ['a=-b', 'unable to parse requirement: values[0][a]: Invalid value: "-b": a valid label must be'],
    ['a/b/c', 'unable to parse requirement: <nil>: Invalid value: "a/b/c": a qualified name must consist of'],
  ])('refuses %j', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(message);
  });
});
