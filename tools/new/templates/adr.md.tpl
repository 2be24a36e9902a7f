# __number__. __title__

Date: __date__. Status: accepted.

## Context

What forces are at work; what was tried and measured.

## Decision

What we do, in the active voice.

## Consequences

What becomes easier, what becomes harder, what would make us change our minds.
