{
  "name": "@headgate/__name__",
  "version": "0.1.0",
  "private": true,
  "type": "module",
  "exports": {
    ".": "./src/index.ts",
    "./kind": "./src/kind.ts"
  },
  "dependencies": {
    "@headgate/domain-contracts": "*",
    "class-validator": "0.15.1"
  },
  "nx": {
    "tags": [
      "type:adapter",
      "scope:__scope__",
      "platform:node"
    ],
    "targets": {
      "lint": {},
      "typecheck": {},
      "test": {}
    }
  }
}
