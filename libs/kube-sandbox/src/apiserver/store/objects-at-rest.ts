import type { KubeObject } from '../kube-object.js';
import type { ObjectAddress } from './owner-index.js';

/** The identity of an object that is built later. */
export interface ObjectAtRest {
  /** `pods`, `deployments.apps` */
  resource: string;
  namespace?: string;
  name: string;
  uid: string;
  /** The uids of its owners. */
  owners?: readonly string[];
}

/** Objects in a state that no controller would change. They are built together, when one of them is first read. */
export interface ObjectsAtRest {
  readonly members: readonly ObjectAtRest[];
  /** Returns new objects, in the order of the members; only their frozen parts may be shared. */
  build(): readonly KubeObject[];
}

/** The place of an object that has not been built yet. */
export class UnbuiltObject implements ObjectAddress {
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string;

  constructor(
    { resource, namespace, name }: ObjectAtRest,
    readonly revision: number,
    private readonly buildGroup: () => void,
  ) {
    this.resource = resource;
    this.namespace = namespace;
    this.name = name;
  }

  /** Builds the object and the others of its group, and stores them in their tables. */
  build(): void {
    this.buildGroup();
  }
}
