// On a page with iframes of embed.html: gives each the height that its figure asks for. Only a frame's own word counts, and only within bounds.
(function () {
  var least = 120, most = 20000; // CSS pixels
  addEventListener('message', function (event) {
    var data = event.data;
    if (!data || data.type !== 'linear-mem:height' || typeof data.height !== 'number' || !isFinite(data.height)) return;
    document.querySelectorAll('iframe').forEach(function (frame) {
      if (frame.contentWindow !== event.source) return;
      frame.style.height = Math.min(most, Math.max(least, Math.ceil(data.height))) + 'px';
    });
  });
})();
