/** Finds the innermost element with a text of which parts, such as names, have elements of their own. */
export const wholeText =
  (text: string) =>
  (_content: string, element: Element | null): boolean =>
    element?.textContent === text && [...element.children].every((child) => child.textContent !== text);
