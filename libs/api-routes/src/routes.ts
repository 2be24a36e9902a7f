import type { PlanView } from '@headgate/api-contracts';
import type { paths } from './api-document.js';

// Types of the routes, derived from the API document. This file leaves nothing in the bundle.

type Method = 'get' | 'post' | 'patch' | 'delete';

/** `/api/vms/{ns}/{name}` → `/api/vms/${string}/${string}` */
type Template<P extends string> = P extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${string}${Template<After>}`
  : P;

/** The keys of the routes that have a method. */
type KeyWith<M extends Method> = {
  [K in keyof paths]: paths[K][M] extends { responses: object } ? K : never;
}[keyof paths];

/** The paths, with any texts in place of their parameters, to which a request with a method can be sent. */
export type PathOf<M extends Method> = Template<KeyWith<M>>;

/**
 * The key of a path. A path fits only if its parameters are at the same places: `${string}` contains slashes as well.
 */
type KeyOf<P extends string, M extends Method> = P extends unknown
  ? { [K in KeyWith<M>]: [P] extends [Template<K>] ? ([Template<K>] extends [P] ? K : never) : never }[KeyWith<M>]
  : never;

type OperationOf<P extends string, M extends Method> =
  KeyOf<P, M> extends infer K ? (K extends keyof paths ? paths[K][M] : never) : never;

type Json<R> = R extends { content: { 'application/json': infer Body } } ? Body : never;
type Done = 200 | 201 | 202;

/** The JSON of a successful response, or of the plan of a dry run. */
type Success<Operation> = Operation extends { responses: infer R }
  ? { [S in keyof R & Done]: Json<R[S]> }[keyof R & Done]
  : never;

type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;

/** The JSON body of a route; never where it has none. */
export type BodyOf<P extends string, M extends Method> =
  OperationOf<P, M> extends infer Operation
    ? Operation extends { requestBody?: infer B }
      ? Immutable<Json<NonNullable<B>>>
      : never
    : never;

type QueryOf<P extends string, M extends Method> =
  OperationOf<P, M> extends infer Operation
    ? Operation extends { parameters: { query?: infer Q } }
      ? Readonly<NonNullable<Q>>
      : never
    : never;

type BodyOfKey<K extends keyof paths, M extends Method> = paths[K][M] extends { requestBody?: infer B }
  ? [NonNullable<B>] extends [never]
    ? { readonly body?: never }
    : { readonly body: Immutable<Json<NonNullable<B>>> }
  : never;

/** The changes below the path of an object, such as `/api/vms/{ns}/{name}`: the path from there on, and the body. */
export type ChangeBelow<Root extends string, M extends 'post' | 'delete'> = {
  [K in KeyWith<M>]: K extends `${Root}/${infer Rest}`
    ? Rest extends `{${string}}`
      ? never
      : { readonly method: Uppercase<M>; readonly path: Template<Rest> } & BodyOfKey<K, M>
    : never;
}[KeyWith<M>];

/** The parts of a request to a route, besides its path. */
export interface RouteOptions<P extends string, M extends Method> {
  readonly query?: QueryOf<P, M>;
  /** Sent as JSON. */
  readonly body?: BodyOf<P, M>;
  /** Sent as it is, instead of a `body`. */
  readonly bytes?: Blob;
  readonly signal?: AbortSignal;
}

/**
 * The JSON of the response: the plan for a dry run, which only `dryRun: true` asks for. Unknown for a path that is not
 * exactly that of a route.
 */
export type ResponseOf<P extends string, M extends Method, O> = [KeyOf<P, M>] extends [never]
  ? unknown
  : Success<OperationOf<P, M>> extends infer Body
    ? O extends { readonly query: { readonly dryRun: true } }
      ? Extract<Body, PlanView>
      : Body extends PlanView
        ? never
        : Body
    : never;
