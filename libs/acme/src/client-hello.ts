const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const ALPN = 16;
const RECORD_HEADER_BYTES = 5;
/** Version, random. */
const HELLO_START_BYTES = 34;

/**
 * The application protocols of the first record of a TLS connection.
 * @param bytes from the beginning of the connection
 * @returns undefined while the record is not complete; nothing for other content. A longer ClientHello is cut, as no
 *   authority sends one
 * Source: RFC 8446, 4.1.2 and 5.1; RFC 7301, 3.1.
 */
export function protocolsOf(bytes: Buffer): readonly string[] | undefined {
  if (bytes.length > 0 && bytes[0] !== HANDSHAKE) return [];
  if (bytes.length < RECORD_HEADER_BYTES) return undefined;
  const end = RECORD_HEADER_BYTES + bytes.readUInt16BE(3);
  if (bytes.length < end) return undefined;
  try {
    return readHello(bytes.subarray(RECORD_HEADER_BYTES, end));
  } catch (error) {
    // A length that points behind the end.
    if ((error as NodeJS.ErrnoException).code?.startsWith('ERR_')) return [];
    throw error;
  }
}

function readHello(message: Buffer): readonly string[] {
  if (message.readUInt8(0) !== CLIENT_HELLO) return [];
  let at = 4 + HELLO_START_BYTES;
  at += 1 + message.readUInt8(at);
  at += 2 + message.readUInt16BE(at);
  at += 1 + message.readUInt8(at);
  const end = at + 2 + message.readUInt16BE(at);
  at += 2;
  while (at + 4 <= end) {
    const [type, length] = [message.readUInt16BE(at), message.readUInt16BE(at + 2)];
    if (type === ALPN) return readProtocols(message.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return [];
}

function readProtocols(bytes: Buffer): readonly string[] {
  const names: string[] = [];
  for (let at = 2; at < bytes.length; at += 1 + bytes.readUInt8(at))
    names.push(bytes.toString('latin1', at + 1, at + 1 + bytes.readUInt8(at)));
  return names;
}
