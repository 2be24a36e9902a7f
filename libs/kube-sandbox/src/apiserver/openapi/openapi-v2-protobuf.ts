/** The protobuf form in which kubectl asks for `/openapi/v2`, and the name of it in answers: an `@` is no part of a media type. */
export const OPENAPI_V2_ACCEPT = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
export const OPENAPI_V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

const SWAGGER_FIELD = 1;
const INFO_FIELD = 2;
const PATHS_FIELD = 8;

/**
 * A document without definitions, in protobuf. kubectl takes what it checks and explains from OpenAPI v3 and asks for this
 * one only about kinds that are not served; it has to get an answer to say that they are not.
 */
export function emptyOpenApiV2(): Buffer {
  const info = Buffer.concat([field(1, Buffer.from('Kubernetes')), field(2, Buffer.from('sandbox'))]);
  return Buffer.concat([
    field(SWAGGER_FIELD, Buffer.from('2.0')),
    field(INFO_FIELD, info),
    field(PATHS_FIELD, Buffer.alloc(0)),
  ]);
}

/** A length-delimited field; every length here fits into one byte. */
function field(number: number, value: Buffer): Buffer {
  const LENGTH_DELIMITED = 2;
  return Buffer.concat([Buffer.from([(number << 3) | LENGTH_DELIMITED, value.length]), value]);
}
