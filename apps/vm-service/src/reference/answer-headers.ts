import type { AnswerHeader } from '../platform/answers.decorator.js';
import type { JsonSchema } from './json-schema.js';

interface Header {
  readonly description: string;
  readonly schema: JsonSchema;
}

const text = { type: 'string' };

/** By the names that the document and the clients use. Names of headers ignore case. */
const HEADERS: Readonly<Record<AnswerHeader, readonly [name: string, header: Header]>> = {
  'content-disposition': ['Content-Disposition', { description: 'The name of the file.', schema: text }],
  etag: [
    'ETag',
    { description: 'The version of the whole body. A request with it as If-None-Match may be 304.', schema: text },
  ],
  'last-modified': ['Last-Modified', { description: 'As Svc-Taken-At, to the second.', schema: text }],
  'svc-checkpoint': ['Svc-Checkpoint', { description: 'The checkpoint that was created.', schema: text }],
  'svc-cursor': [
    'Svc-Cursor',
    { description: 'Leads to the next page: the value of `cursor`. Absent on the last page.', schema: text },
  ],
  'svc-gap': [
    'Svc-Gap',
    {
      description:
        'Only with `at`, for a time in which nothing was recorded: its beginning and its end, such as `2026-01-31T12:00:00.000Z/2026-01-31T12:05:00.000Z`. The end is `..` while it lasts.',
      schema: text,
    },
  ],
  'svc-partial': [
    'Svc-Partial',
    {
      description: '`true` if a part is missing or out of date, such as the entries of a lost context.',
      schema: { ...text, enum: ['true'] },
    },
  ],
  'svc-since': ['Svc-Since', { description: 'The checkpoint since which the changes are exported.', schema: text }],
  'svc-taken-at': [
    'Svc-Taken-At',
    {
      description:
        'When the picture was taken. More than 5 s ago, it is the last one: the screen can not be opened now.',
      schema: { ...text, format: 'date-time' },
    },
  ],
};

/** The headers of a response, for the API document. */
export const describeHeaders = (names: readonly AnswerHeader[]): { headers?: Record<string, Header> } =>
  names.length === 0 ? {} : { headers: Object.fromEntries(names.map((name) => HEADERS[name])) };
