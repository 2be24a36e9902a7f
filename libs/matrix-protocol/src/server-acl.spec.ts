import { serverAclAllows } from './server-acl.js';

describe('serverAclAllows', () => {
  test.each<[boolean, unknown, string]>([
    [true, undefined, 'a.example'],
    [false, {}, 'a.example'],
    [false, 'nonsense', 'a.example'],
    [true, { allow: ['*'] }, 'a.example'],
    [false, { allow: ['*'], deny: ['a.example'] }, 'a.example'],
    [false, { allow: ['*'], deny: ['a.example'] }, 'A.Example:8448'],
    [true, { allow: ['*'], deny: ['a.example'] }, 'b.a.example'],
    [false, { allow: ['*'], deny: ['*.example'] }, 'b.a.example'],
    [false, { allow: ['*.example'] }, 'example'],
    [true, { allow: ['?.example'] }, 'a.example'],
    [false, { allow: ['?.example'] }, 'ab.example'],
    [false, { allow: ['a.example'] }, 'axexample'],
    [true, { allow: ['*a*b*'] }, 'xxaxxbxx'],
    [true, { allow: ['*.*.example'] }, 'a.b.c.example'],
    [true, { allow: ['*'] }, '1.2.3.4'],
    [false, { allow: ['*'], allow_ip_literals: false }, '1.2.3.4:80'],
    [false, { allow: ['*'], allow_ip_literals: false }, '[::1]:80'],
    [true, { allow: ['*'], allow_ip_literals: 'no' }, '[::1]'],
    [false, { allow: '*' }, 'a.example'],
    [true, { allow: [5, '*'] }, 'a.example'],
  ])('is %p for %j and %s', (allowed, content, server) => expect(serverAclAllows(content, server)).toBe(allowed));

  test('matches a malicious pattern quickly', () => {
    const glob = `${'*a'.repeat(200)}b`;
    expect(serverAclAllows({ allow: [glob] }, 'a'.repeat(250))).toBe(false);
  });
});
