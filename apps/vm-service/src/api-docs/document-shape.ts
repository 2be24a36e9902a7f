/** An OpenAPI 3.1 document, as far as the page shows it. */
export interface DocumentShape {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationShape>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaShape>>;
    readonly securitySchemes: Readonly<Record<string, { readonly description?: string }>>;
  };
}

export interface OperationShape {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly ParameterShape[];
  readonly requestBody?: { readonly required?: boolean; readonly content: ContentShape };
  readonly responses: Readonly<Record<string, ResponseShape>>;
  readonly 'x-event-stream'?: {
    readonly description: string;
    readonly events: Readonly<Record<string, { readonly description: string; readonly schema: SchemaShape }>>;
  };
}

export interface ParameterShape {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: SchemaShape;
}

export interface ResponseShape {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
  readonly content?: ContentShape;
}

type ContentShape = Readonly<Record<string, { readonly schema: SchemaShape }>>;

export interface SchemaShape {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: SchemaShape;
  readonly anyOf?: readonly SchemaShape[];
  readonly oneOf?: readonly SchemaShape[];
  readonly allOf?: readonly SchemaShape[];
  readonly properties?: Readonly<Record<string, SchemaShape>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SchemaShape;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}
