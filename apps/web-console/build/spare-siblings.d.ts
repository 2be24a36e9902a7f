export const withoutUniversalSiblings: (css: string) => string;
