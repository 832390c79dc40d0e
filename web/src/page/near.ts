// Acts once for each element, when the reader comes near it.
export function whenNear<E extends Element>(elements: Iterable<E>, act: (element: E) => void, margin = '300px'): void {
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      act(target as E);
    }
  }, { rootMargin: margin });
  for (const element of elements) observer.observe(element);
}
