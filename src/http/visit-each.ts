// Calls a function for each of several connections or requests. If a call throws, the other calls still take place.

/**
 * visitEach calls `visit` for each item. If `visit` throws, `onFailure` gets the error, and visitEach continues with
 * the next item. `visit` throws only if the program has changed an object, for example if it has frozen a response.
 */
export function visitEach<Item>(
  items: Iterable<Item>,
  visit: (item: Item) => void,
  onFailure: (error: unknown) => void,
): void {
  for (const item of items) {
    try {
      visit(item);
    } catch (error) {
      onFailure(error);
    }
  }
}
