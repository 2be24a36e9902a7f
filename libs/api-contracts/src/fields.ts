// The decorators of class-transformer read the metadata that this adds.
import 'reflect-metadata';
import {
  isDiskSize,
  isMemorySize,
  CHECKSUM_RULE,
  DOWNLOAD_URL_RULE,
  FOLDER_PATH_RULE,
  IMAGE_REFERENCE_RULE,
  isChecksum,
  isCpuSet,
  isHostDeviceName,
  isDownloadUrl,
  isImageReference,
  isContextName,
  isFolderPath,
  isInstanceName,
  isJournalRef,
  isMacAddress,
  isKubernetesName,
  isTag,
  isVolumeName,
  MAX_NAME_LENGTH,
} from '@headgate/domain-contracts';
import { Type } from 'class-transformer';
import { isIP, ValidateBy, ValidateIf, ValidateNested, type ValidationOptions } from 'class-validator';

/**
 * Fields that have the same meaning everywhere. Each carries its OpenAPI schema in the constraints of its validator,
 * and the API document is generated from them.
 */
export interface FieldSchema {
  readonly description?: string;
  /** The type that a client has for the text of a parameter; `string` by default. */
  readonly type?: 'boolean' | 'integer';
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly examples?: readonly unknown[];
}

const textField =
  (name: string, test: (text: string) => boolean, rule: string, schema: FieldSchema) =>
  (options?: ValidationOptions): PropertyDecorator =>
    ValidateBy(
      {
        name,
        constraints: [schema],
        validator: {
          validate: (value: unknown) => typeof value === 'string' && test(value),
          defaultMessage: (args) => `${args?.property} must be ${rule}.`,
        },
      },
      options,
    );

const isByteCount = (text: string): boolean => /^(?:0|[1-9]\d{0,15})$/.test(text) && Number.isSafeInteger(Number(text));

const NAME_RULE = `1 to ${MAX_NAME_LENGTH} characters of a-z, 0-9 and "-", beginning with a letter or a digit`;

/** A day that exists, a time and a time zone. Source: RFC 3339. */
function isMoment(text: string): boolean {
  const [, day] = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(text))) return false;
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

/** A moment, to the millisecond. */
export const IsMoment = textField('isMoment', isMoment, 'a time of RFC 3339 such as 2026-01-31T12:00:00Z', {
  maxLength: 40,
  examples: ['2026-01-31T12:00:00Z'],
});

/** The name of an instance, namespace, snapshot or volume. */
export const IsInstanceName = textField('isInstanceName', isInstanceName, NAME_RULE, {
  pattern: '^[a-z0-9][a-z0-9-]*$',
  maxLength: MAX_NAME_LENGTH,
  examples: ['web-1'],
});

/** A name by the rules of Kubernetes: nodes, instancetypes, preferences. */
export const IsKubernetesName = textField(
  'isKubernetesName',
  isKubernetesName,
  'a Kubernetes name: at most 253 characters of a-z, 0-9, "-" and "."',
  { maxLength: 253, examples: ['u1.medium'] },
);

/** An existing volume. Backends may accept fewer names. */
export const IsVolumeName = textField(
  'isVolumeName',
  isVolumeName,
  'the name of a volume, or of a libvirt storage pool and a volume such as default/data.qcow2',
  { maxLength: 511, examples: ['data'] },
);

/** An object that entries of the journal name. */
export const IsJournalRef = textField(
  'isJournalRef',
  isJournalRef,
  'the ref of an instance such as vm/<context>/<namespace>/<name>, or another object such as folder/<path> or task/<id>',
  { maxLength: 600, examples: ['vm/local/local/web', 'folder/prod'] },
);

/** A configured context. */
export const IsContextName = textField('isContextName', isContextName, 'the name of a configured context', {
  maxLength: 253,
  examples: ['local'],
});

/**
 * The kind of a backend. Contexts of any kind can be configured, so the form is checked here and the kind where it is
 * used.
 */
export const IsBackendKind = textField(
  'isBackendKind',
  (text) => /^[a-z][a-z0-9-]{0,62}$/.test(text),
  'the kind of a context that GET /api/move/destinations lists, such as "kubevirt" or "libvirt"',
  { pattern: '^[a-z][a-z0-9-]*$', maxLength: 63, examples: ['libvirt'] },
);

/** An IP address, or a network as a CIDR. */
export const IsAddressRange = textField(
  'isAddressRange',
  (text) => {
    const [address = '', bits, ...rest] = text.split('/');
    // The network of an IPv4 address in the form of IPv6 would have two meanings.
    if (!isIP(address) || /^::ffff:/i.test(address) || address.includes('%') || rest.length > 0) return false;
    return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address, 6) ? 128 : 32));
  },
  'an IP address or a network such as 10.0.0.0/8',
  { maxLength: 49, examples: ['10.0.0.0/8'] },
);

/** The MAC address of a NIC. */
export const IsMacAddress = textField('isMacAddress', isMacAddress, 'a unicast MAC address such as 52:54:00:12:34:56', {
  maxLength: 17,
  examples: ['52:54:00:12:34:56'],
});

/** A network of a backend: names have the same form as those of volumes. */
export const IsNetworkName = textField(
  'isNetworkName',
  isVolumeName,
  'the name of a network, or of a namespace and a network attachment definition such as default/lan',
  { maxLength: 511, examples: ['lan'] },
);

/** A storage pool of libvirt, or a storage class. */
export const IsStorageName = textField(
  'isStorageName',
  (text) => /^[A-Za-z0-9]([A-Za-z0-9._-]{0,252})$/.test(text),
  'the name of a storage pool or of a storage class',
  { pattern: '^[A-Za-z0-9]([A-Za-z0-9._-]{0,252})$', maxLength: 253, examples: ['ceph-block'] },
);

/** An image in a registry. */
export const IsImageReference = textField('isImageReference', isImageReference, IMAGE_REFERENCE_RULE, {
  maxLength: 512,
  examples: ['registry.example.org/images/debian:12'],
});

/** A disk image or an ISO file to download. */
export const IsDownloadUrl = textField('isDownloadUrl', isDownloadUrl, DOWNLOAD_URL_RULE, {
  maxLength: 2048,
  examples: ['https://example.org/images/debian-12.qcow2'],
});

/** CPUs or NUMA nodes. */
export const IsCpuSet = textField(
  'isCpuSet',
  isCpuSet,
  'a list of numbers and ranges such as 0-3,8, each at most 8191',
  {
    maxLength: 1024,
    examples: ['0-3,8'],
  },
);

/** A device of a host. */
export const IsHostDeviceName = textField(
  'isHostDeviceName',
  isHostDeviceName,
  'the name of a device such as pci_0000_03_00_0, or of a resource of a cluster such as example.org/gpu',
  { maxLength: 253, examples: ['pci_0000_03_00_0'] },
);

/** The checksum of a file. */
export const IsChecksum = textField('isChecksum', isChecksum, CHECKSUM_RULE, {
  maxLength: 135,
  examples: ['sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'],
});

/** A number of bytes in a query string. */
export const IsByteCount = textField('isByteCount', isByteCount, 'a whole number of bytes', {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  examples: [0, 1024],
});

/** A folder, by its whole path. */
export const IsFolderPath = textField('isFolderPath', isFolderPath, FOLDER_PATH_RULE, {
  maxLength: 519,
  examples: ['prod/databases'],
});

/** `4G` and `4Gi` mean the same. */
export const IsMemorySize = textField(
  'isMemorySize',
  isMemorySize,
  'a size such as 4Gi or 512Mi, a whole number of bytes from 1Mi to 64Ti',
  { maxLength: 40, examples: ['4Gi'] },
);

/** `20G` and `20Gi` mean the same. */
export const IsDiskSize = textField(
  'isDiskSize',
  isDiskSize,
  'a size such as 20Gi or 512Mi, a whole number of bytes from 1Mi to 1Pi',
  { maxLength: 40, examples: ['20Gi'] },
);

/** The name of a tag, without the prefix of its label. */
export const IsTag = textField(
  'isTag',
  isTag,
  '1 to 59 characters of A-Z, a-z, 0-9, "-", "_" and ".", beginning and ending with a letter or a digit',
  { maxLength: 59, examples: ['prod'] },
);

/** A switch in a query string. */
export const IsSwitch = textField('isSwitch', (text) => text === 'true' || text === 'false', '"true" or "false"', {
  type: 'boolean',
});

/** A whole number in a query string. */
export const IsCountText = (min: number, max: number): PropertyDecorator =>
  textField(
    'isCountText',
    (text) => /^(?:0|[1-9]\d{0,8})$/.test(text) && Number(text) >= min && Number(text) <= max,
    `a number from ${min} to ${max}`,
    { type: 'integer', minimum: min, maximum: max },
  )();

/** One of some words. Any text is valid here: the use case refuses the others, with the words in its message. */
export const IsWord = (words: readonly string[]): PropertyDecorator =>
  textField('isWord', () => true, 'a string', { enum: words })();

/** An object whose fields are names with values of the same kind, or any fields where no schema is given. */
export const IsMap = (values: object | true): PropertyDecorator =>
  ValidateBy({
    name: 'isMap',
    constraints: [{ type: 'object', additionalProperties: values }],
    validator: {
      validate: (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
      defaultMessage: (args) => `${args?.property} must be an object.`,
    },
  });

const marked = {
  optional: new Map<object, Set<string>>(),
  nullable: new Map<object, Set<string>>(),
  required: new Map<object, Set<string>>(),
};
type Mark = keyof typeof marked;

const mark = (kind: Mark, target: object, property: string | symbol): void => {
  marked[kind].set(target, (marked[kind].get(target) ?? new Set()).add(String(property)));
};

/** Whether a field of a DTO class is optional or nullable. */
export function isMarked(kind: Mark, type: { prototype: object }, property: string): boolean {
  for (let target: object | null = type.prototype; target; target = Object.getPrototypeOf(target) as object | null) {
    if (kind === 'optional' && marked.required.get(target)?.has(property)) return false;
    if (marked[kind].get(target)?.has(property)) return true;
  }
  return false;
}

/** An optional field. Unlike with class-validator's IsOptional, `null` is not the same as absent. */
export const Optional = (): PropertyDecorator => (target, property) => {
  mark('optional', target, property);
  ValidateIf((_object, value) => value !== undefined)(target, property);
};

/** A field of a derived class that is required, although it is optional in the class that it is derived from. */
export const Required = (): PropertyDecorator => (target, property) => {
  mark('required', target, property);
  ValidateIf(() => true)(target, property);
};

/** A field that is always present and may be null. */
export const Nullable = (): PropertyDecorator => (target, property) => {
  mark('nullable', target, property);
  ValidateIf((_object, value) => value !== null)(target, property);
};

type DtoClass = new () => object;

const nestedTypes = new Map<object, Map<string, () => DtoClass>>();

/** A field that holds an object of another DTO class, or an array of them. */
export const Nested =
  (type: () => DtoClass, options?: ValidationOptions): PropertyDecorator =>
  (target, property) => {
    // Otherwise the API document would describe one object, and clients would be generated for it.
    if (Reflect.getMetadata('design:type', target, property) === Array && options?.each !== true)
      throw new TypeError(`${String(property)} is an array, so it needs @Nested with { each: true }.`);
    nestedTypes.set(target, (nestedTypes.get(target) ?? new Map<string, () => DtoClass>()).set(String(property), type));
    ValidateNested(options)(target, property);
    Type(type)(target, property);
  };

/** The class that a field decorated with `Nested` holds. */
export function nestedType(type: { prototype: object }, property: string): DtoClass | undefined {
  for (let target: object | null = type.prototype; target; target = Object.getPrototypeOf(target) as object | null) {
    const nested = nestedTypes.get(target)?.get(property);
    if (nested) return nested();
  }
  return undefined;
}
