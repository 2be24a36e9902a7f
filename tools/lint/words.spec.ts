import { findWords } from './words.mjs';

const found = (text: string): string[] => findWords(text).map(({ rule }) => rule);

describe('findWords', () => {
  test.each([
    ['// nobody waits', 'nobody'], // words-example
    ['const toldTasks = 1;', 'tell'],
    ['HEARD_OF', 'hear'],
    ['throw new Error("What was stored is gone")', 'what is'],
    ['a port that stands open', 'stand'],
    ['\u201cquoted\u201d', 'curly quote'],
    ['const backgroundColour = 1', 'British spelling'],
  ])('finds the word in %j', (text, rule) => {
    expect(found(text)).toContain(rule);
  });

  test.each([
    'What is this?',
    'stand-alone',
    'a standard',
    'besides',
    'the header',
    'stall',
    'made up of',
    'otherwise, promise',
    'describe',
  ])('accepts %j', (text) => {
    expect(found(text)).toEqual([]);
  });

  test('says where', () => {
    expect(findWords('a\nb nobody')).toEqual([expect.objectContaining({ line: 2, found: 'nobody' })]);
  });
});
