// class-transformer exports no way to its metadata; this module of it is where they are kept.
declare module 'class-transformer/esm5/storage.js' {
  export const defaultMetadataStorage: {
    findTypeMetadata(target: object, property: string): { typeFunction(): unknown } | undefined;
  };
}
