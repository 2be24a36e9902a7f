/**
 * Folders, and files next to folders, that import each other in a circle. This list only gets shorter.
 *
 * @type {readonly (readonly string[])[]}
 */
export const KNOWN_KNOTS = [
  knot('apps/web-console/src/features/fleet', 'components', 'use-vm-operations.ts'),
  knot('apps/web-console/src/shared', 'fleet', 'names', 'queries'),
];

function knot(parent, ...rooms) {
  return rooms.map((room) => `${parent}/${room}`);
}
