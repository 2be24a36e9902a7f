/** The media type of `/openapi/v2` in protobuf: as requested by kubectl, and in responses, where `@` is not allowed. */
export const OPENAPI_V2_ACCEPT = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
export const OPENAPI_V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

const SWAGGER_FIELD = 1;
const INFO_FIELD = 2;
const PATHS_FIELD = 8;

/**
 * A document without definitions, in protobuf. kubectl validates and explains with OpenAPI v3 and requests this
 * document only for unknown kinds; it must exist for kubectl to report them correctly.
 */
export function emptyOpenApiV2(): Buffer {
  const info = Buffer.concat([field(1, Buffer.from('Kubernetes')), field(2, Buffer.from('sandbox'))]);
  return Buffer.concat([
    field(SWAGGER_FIELD, Buffer.from('2.0')),
    field(INFO_FIELD, info),
    field(PATHS_FIELD, Buffer.alloc(0)),
  ]);
}

/** A length-delimited field with a length below 128. */
function field(number: number, value: Buffer): Buffer {
  const LENGTH_DELIMITED = 2;
  return Buffer.concat([Buffer.from([(number << 3) | LENGTH_DELIMITED, value.length]), value]);
}
