import type { SchemaShape } from './document-shape.js';
import { escapeHtml, prose, table } from './html.js';

/** The type of a value as HTML, with links to the schemas that it names. */
export function typeOf(schema: SchemaShape): string {
  if (schema.$ref !== undefined) {
    const name = escapeHtml(schema.$ref.split('/').at(-1) ?? '');
    return `<a href="#schema-${name}">${name}</a>`;
  }
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return choices.map(typeOf).join(' or ');
  if (schema.allOf) return schema.allOf.map(typeOf).join(' and ');
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`;
  if (schema.items) return `array of ${typeOf(schema.items)}`;
  if (schema.properties && schema.description === undefined) return `object with ${fieldsOf(schema)}`;
  if (typeof schema.additionalProperties === 'object') return `map of ${typeOf(schema.additionalProperties)}`;
  return [schema.type ?? 'any'].flat().join(' or ') + (schema.format ? ` (${escapeHtml(schema.format)})` : '');
}

const fieldsOf = ({ properties = {} }: SchemaShape): string =>
  Object.entries(properties)
    .map(([name, schema]) => `<code>${escapeHtml(name)}</code>: ${typeOf(schema)}`)
    .join(', ');

/** The bounds of a value as HTML; empty without any. */
export function boundsOf(schema: SchemaShape): string {
  const { minimum, maximum, minLength, maxLength, pattern } = schema;
  const values = schema.enum ?? schema.items?.enum;
  return [
    ...(values ? [`one of ${values.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(', ')}`] : []),
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
    ...(minLength === undefined ? [] : [`at least ${minLength} characters`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(pattern === undefined ? [] : [`<code>${escapeHtml(pattern)}</code>`]),
  ].join('; ');
}

/** A component as a section that can be opened. */
export function renderSchema([name, schema]: readonly [string, SchemaShape]): string {
  const { properties = {}, required = [] } = schema;
  const rows = Object.entries(properties).map(([field, inner]) => [
    `<code>${escapeHtml(field)}</code>${required.includes(field) ? '' : ' <i>optional</i>'}`,
    typeOf(inner),
    [prose(inner.description ?? ''), boundsOf(inner)].filter((text) => text !== '').join('<br>'),
  ]);
  return `<details id="schema-${escapeHtml(name)}"><summary><code>${escapeHtml(name)}</code></summary>
<p>${prose(schema.description ?? '')}</p>${table(['Field', 'Type', 'Description'], rows)}</details>`;
}
