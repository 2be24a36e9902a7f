import { STATUS_CODES } from 'node:http';
import { corsHeaders, type MatrixResponse } from '@headgate/homeserver-contracts';

/** The bytes of a whole response, for connections without a response object. */
export function serializeResponse(
  { status, headers, body }: MatrixResponse,
  connection: 'close' | 'keep-alive' = 'close',
): string {
  const text = body.toString();
  const all = [...headers, ...corsHeaders, 'Content-Length', String(Buffer.byteLength(text)), 'Connection', connection];
  const lines = all.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : []));
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', text].join('\r\n');
}
