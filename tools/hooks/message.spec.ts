import { findProblems } from './message.mjs';

describe('findProblems', () => {
  test.each([
    'fleet: resume the event stream from Last-Event-ID',
    'kube-adapter: need one list per kind\n\nThe reason.',
    'fleet, tasks: share one clock',
    'Revert "fleet: resume the event stream"',
    "Merge branch 'main'",
    '# a comment of the editor\ndocs: seed the glossary',
  ])('accepts %j', (message) => {
    expect(findProblems(message)).toEqual([]);
  });

  test.each([
    [`fleet: ${'a'.repeat(80)}`, /87 characters/],
    ['resume the event stream', /scope: do one thing/],
    ['fleet: resumed the event stream', /"resumed" is not imperative/],
    ['fleet: a lost context keeps its entries', /"a" is not imperative/],
    ['fleet: resume the stream; keep entries', /semicolon/],
    ['fleet: resume the stream.', /full stop/],
    ['fleet: resume the stream\nthe reason', /second line/],
  ])('refuses %j', (message, problem) => {
    expect(findProblems(message).join('\n')).toMatch(problem);
  });
});
