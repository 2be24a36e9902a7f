import type { OperationShape, ResponseShape } from './document-shape.js';
import { escapeHtml, prose, table } from './html.js';
import { boundsOf, typeOf } from './render-schema.js';

/** An operation as a section that can be opened. */
export function renderOperation(method: string, path: string, operation: OperationShape): string {
  const { operationId, summary, description = '', parameters = [], requestBody, responses } = operation;
  return `<details id="${escapeHtml(operationId)}"><summary><b class="${method}">${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code> ${prose(summary)}</summary>
<p>${prose(description)}</p>${renderParameters(parameters)}${renderBody(requestBody)}
<h4>Responses</h4>${table(['Status', 'Body', 'Description'], Object.entries(responses).map(responseRow))}
${renderStream(operation['x-event-stream'])}</details>`;
}

function renderParameters(parameters: NonNullable<OperationShape['parameters']>): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(({ name, in: place, required, description = '', schema }) => [
    `<code>${escapeHtml(name)}</code>${required ? '' : ' <i>optional</i>'}`,
    place,
    typeOf(schema),
    [prose(description), boundsOf(schema)].filter((text) => text !== '').join('<br>'),
  ]);
  return `<h4>Parameters</h4>${table(['Name', 'In', 'Type', 'Description'], rows)}`;
}

function renderBody(body: OperationShape['requestBody']): string {
  if (!body) return '';
  const forms = Object.entries(body.content).map(([type, { schema }]) => `${typeOf(schema)} as ${escapeHtml(type)}`);
  return `<h4>Body</h4><p>${forms.join(', or ')}${body.required ? '' : ', or none'}</p>`;
}

function responseRow([status, { description, headers = {}, content = {} }]: readonly [
  string,
  ResponseShape,
]): string[] {
  const bodies = Object.entries(content).map(([type, { schema }]) =>
    type === 'application/json' ? typeOf(schema) : escapeHtml(type),
  );
  const named = Object.entries(headers).map(
    ([name, header]) => `<code>${escapeHtml(name)}</code>: ${prose(header.description ?? '')}`,
  );
  return [status, bodies.join(', or '), [prose(description), ...named].join('<br>')];
}

function renderStream(stream: OperationShape['x-event-stream']): string {
  if (!stream) return '';
  const rows = Object.entries(stream.events).map(([name, { description, schema }]) => [
    `<code>${escapeHtml(name)}</code>`,
    typeOf(schema),
    prose(description),
  ]);
  return `<h4>Event stream</h4><p>${prose(stream.description)}</p>${table(['Event', 'Data', 'Description'], rows)}`;
}
