import { attribute, element, elements, formatXml, parseXml, text } from './xml.js';

describe('parseXml', () => {
  test('returns attributes, text and repeatable elements', () => {
    expect(parseXml('<a x="1" y:z="2"><name> web </name><disk/><b>1</b><b>2</b><c d="e">f</c></a>')).toEqual({
      a: { '@x': '1', '@y:z': '2', name: 'web', disk: [''], b: ['1', '2'], c: { '@d': 'e', '#text': 'f' } },
    });
  });

  test('keeps numbers as text', () => {
    expect(parseXml('<a version="010"><name>007</name></a>')).toEqual({ a: { '@version': '010', name: '007' } });
  });

  test('decodes the entities and character references that libvirt writes', () => {
    // libvirt writes a line break of an attribute as a character reference.
    const document = parseXml('<a b="one&#10;two &lt;&quot;&gt;"><c>x &amp; &#x41;</c></a>');
    expect(attribute(element(document, 'a'), 'b')).toBe('one\ntwo <">');
    expect(text(element(document, 'a'), 'c')).toBe('x & A');
  });

  test('reads CDATA as text, and skips comments and processing instructions', () => {
    const document = parseXml('<?xml version="1.0"?><!-- c --><a>x<!-- <b/> --><![CDATA[<b>&amp;]]>y<?p q?></a>');
    expect(document).toEqual({ a: 'x<b>&amp;y' });
  });

  test.each([
    ['an unclosed element', '<a><b></a>'],
    ['text that is cut off', '<a><b'],
    ['no element', ''],
    ['two documents', '<a/><b/>'],
    ['an attribute twice', '<a b="1" b="2"/>'],
    ['an attribute without a value', '<a b/>'],
    ['an entity of its own', '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'],
    ['an external entity', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'],
    ['an unknown entity', '<a>&eacute;</a>'],
    ['a control character', '<a>\u0001</a>'],
    ['a reference to a control character', '<a>&#1;</a>'],
    ['an element with a reserved name', '<a><__proto__><polluted/></__proto__></a>'],
    ['101 nested elements', '<a>'.repeat(101) + '</a>'.repeat(101)],
  ])('refuses %s', (_title, xml) => {
    expect(() => parseXml(xml)).toThrow(Error);
  });

  test.each(['constructor', 'toString', 'hasOwnProperty', 'prototype', '__defineGetter__'])(
    'reads an element named %s like any other',
    (name) => {
      const document = parseXml(`<a><${name} ${name}="1">2</${name}><${name}/></a>`);
      expect(elements(element(document, 'a'), name)).toEqual([{ [`@${name}`]: '1', '#text': '2' }, {}]);
    },
  );

  test('gives objects no other prototype', () => {
    const document = element(parseXml('<a __proto__="x"><b __proto__="y"/></a>'), 'a');
    expect(attribute(document, '__proto__')).toBe('x');
    expect(Object.getPrototypeOf(document)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(element(document, 'b'))).toBe(Object.prototype);
  });

  test('reads 10 MB of metadata', () => {
    const many = '<x:note xmlns:x="urn:x" n="1">some text</x:note>'.repeat(200_000);
    expect(elements(element(parseXml(`<metadata>${many}</metadata>`), 'metadata'), 'x:note')).toHaveLength(200_000);
  });

  test('reads what formatXml writes', () => {
    const document = { a: { '@b': `"<&'>`, c: ['1', `<&'">`], disk: [{ '@d': 'e' }] } };
    expect(parseXml(formatXml(document))).toEqual(document);
  });
});
