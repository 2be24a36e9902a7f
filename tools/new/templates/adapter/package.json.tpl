{
  "name": "@headgate/__name__",
  "version": "0.1.0",
  "private": true,
  "type": "module",
  "exports": { ".": "./src/index.ts" },
  "dependencies": { "@headgate/domain-contracts": "*" },
  "nx": {
    "tags": ["type:adapter", "scope:__scope__", "platform:node"],
    "targets": { "test": {}, "typecheck": {}, "lint": {} }
  }
}
