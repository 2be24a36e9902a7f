import { ConsoleQuery, ContextQuery, ErrorView, InstancePath, PortPath } from '@headgate/api-contracts';
import type { OpenAPIObject } from '@nestjs/swagger';
import { referenceTo, schemaOf, type DtoClass, type JsonSchema } from './json-schema.js';
import type { ClassDescription } from './read-descriptions.js';

type Descriptions = ReadonlyMap<string, ClassDescription>;
type Paths = OpenAPIObject['paths'];
type Operation = NonNullable<Paths[string]['get']>;

const FRAMES =
  'Frames are binary; the subprotocol `binary` is accepted when offered. A console that can not be opened is refused before the upgrade, with the usual error body.';

/** The sockets of consoles and ports, which are gateways and no routes of a controller. */
export const consolePaths = (descriptions: Descriptions): Paths => ({
  '/api/ext/vms/{ns}/{name}/ports/{port}': {
    get: socket(descriptions, PORT_INPUT, {
      operationId: 'Ports.connect',
      summary: 'Connects to a TCP port of the guest of a VM.',
      description:
        'Upgrades to a WebSocket that carries the bytes of one TCP connection in binary frames. The text frame {"end":true} in either direction means that no more bytes follow in it. A connection that can not be opened, or that the guest resets, is closed with code 4500 and the reason, and one without a byte for an hour with code 4508; a client that closes the socket without an end resets the connection. The service connects from its machine or cluster, to an address that the engine has given to the guest. A caller has at most 32 connections.',
    }),
  },
  '/api/vnc/{ns}/{name}': {
    get: socket(descriptions, CONSOLE_INPUT, {
      operationId: 'Consoles.vnc',
      summary: 'Opens the graphical console of a VM.',
      description: `Upgrades to a WebSocket that carries RFB 3.7 or 3.8, the protocol of VNC. ${FRAMES}`,
    }),
  },
  '/api/tty/{ns}/{name}': {
    get: socket(descriptions, CONSOLE_INPUT, {
      operationId: 'Consoles.tty',
      summary: 'Opens the serial console of a VM, or a shell in a container.',
      description: `Upgrades to a WebSocket that carries the bytes of the terminal. ${FRAMES} To a shell, a text frame with {"resize": {"columns": 80, "rows": 24}} sets the size of its window.`,
    }),
  },
});

interface SocketInput {
  readonly tag: string;
  readonly path: DtoClass;
  readonly query: DtoClass;
}

const CONSOLE_INPUT: SocketInput = { tag: 'Consoles', path: InstancePath, query: ConsoleQuery };
const PORT_INPUT: SocketInput = { tag: 'Ports', path: PortPath, query: ContextQuery };

function socket(
  descriptions: Descriptions,
  { tag, path, query }: SocketInput,
  texts: { readonly operationId: string; readonly summary: string; readonly description: string },
): Operation {
  const failure = { 'application/json': { schema: referenceTo(ErrorView) } };
  return {
    ...texts,
    tags: [tag],
    parameters: [...parameters('path', path, descriptions), ...parameters('query', query, descriptions)] as NonNullable<
      Operation['parameters']
    >,
    responses: {
      101: { description: 'The connection is a WebSocket from here on.' },
      '4XX': { description: 'The request is wrong or refused.', content: failure },
      '5XX': { description: 'A backend, or the service itself, failed.', content: failure },
    },
  };
}

/** The fields of a DTO class as parameters. */
function parameters(place: 'path' | 'query', type: DtoClass, descriptions: Descriptions): object[] {
  const { properties, required } = schemaOf(type, descriptions.get(type.name));
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: (required as string[]).includes(name),
    description,
    schema,
  }));
}
