// Inside the iframe: the query's names become the figure's attributes, and its height is told to the page around it.
(function () {
  var query = new URLSearchParams(location.search);
  var figure = document.createElement('linear-mem');
  customElements.get('linear-mem').observedAttributes.forEach(function (name) {
    if (query.has(name)) figure.setAttribute(name, query.get(name));
  });
  var preferred = (navigator.language || 'en').toLowerCase();
  document.documentElement.lang = /^zh/.test(query.get('lang') || preferred) ? 'zh-Hans' : 'en';
  document.body.style.margin = '0';
  document.body.append(figure);
  if (parent === window) return;
  var told = 0;
  new ResizeObserver(function () {
    var height = Math.ceil(figure.getBoundingClientRect().height);
    if (height === told) return;
    told = height;
    parent.postMessage({ type: 'linear-mem:height', id: query.get('id'), height: height }, '*');
  }).observe(figure);
})();
